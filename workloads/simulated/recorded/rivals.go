package recorded

import "math/rand/v2"

// Best is the highest score of the points that fit; 0: none fits.
func (s Surface) Best() float64 { return s.best(s.Points) }

func (s Surface) best(points []Point) float64 {
	best := 0.0
	for _, p := range points {
		if s.fits(p) {
			best = max(best, p.Score)
		}
	}
	return best
}

// Budget is the number of configurations that a search may try: half of them, and
// six where there are fewer than twelve.
func (s Surface) Budget() int { return max(6, len(s.Points)/2) }

// LargestThatFits is the score of the largest micro-batch that fits, the mean where
// several configurations have it; 0: none fits.
func (s Surface) LargestThatFits() float64 {
	largest, sum, n := 0, 0.0, 0
	for _, p := range s.Points {
		if !s.fits(p) || p.MicroBatch < largest {
			continue
		}
		if p.MicroBatch > largest {
			largest, sum, n = p.MicroBatch, 0, 0
		}
		sum, n = sum+p.Score, n+1
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// RandomHalf is the mean, over the draws, of the best score among Budget points
// drawn at random without putting back. The same seed gives the same mean.
func (s Surface) RandomHalf(draws int, seed uint64) float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	sum := 0.0
	for range draws {
		var drawn []Point
		for _, i := range r.Perm(len(s.Points))[:min(s.Budget(), len(s.Points))] {
			drawn = append(drawn, s.Points[i])
		}
		sum += s.best(drawn)
	}
	return sum / float64(draws)
}
