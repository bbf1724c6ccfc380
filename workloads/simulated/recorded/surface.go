package recorded

import (
	"bytes"
	_ "embed" // of the figures
	"encoding/json"
	"fmt"
	"slices"

	"autotune/tuner"
	"autotune/tuner/stats"
)

//go:embed surfaces.jsonl
var figures []byte

// Surface is what was recorded of one workload on one card.
type Surface struct {
	Name        string `json:"surface"`
	Source      string `json:"source"`
	GPU         string `json:"gpu"`
	Model       string `json:"model"`
	ScoreUnit   string `json:"score_unit"`       // of Point.Score; comparable inside the surface only
	MemoryBytes int64  `json:"gpu_memory_bytes"` // of one card; 0: not known
	// Points have a configuration each, in the order of the source.
	Points []Point `json:"points"`
}

// Point is what was recorded of one configuration.
type Point struct {
	tuner.Config
	Status    tuner.Status `json:"status"`     // OK or OOM
	Score     float64      `json:"score"`      // throughput of one card; 0: it did not run
	PeakBytes int64        `json:"peak_bytes"` // 0: not known
}

// Load gives all surfaces. Where a source has several records of one
// configuration, its point has the median of the scores.
func Load() ([]Surface, error) {
	var surfaces []Surface
	for i, line := range bytes.Split(bytes.TrimSpace(figures), []byte("\n")) {
		var s Surface
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("surfaces.jsonl, line %d: %w", i+1, err)
		}
		points, err := merge(s.Points)
		if err != nil {
			return nil, fmt.Errorf("surfaces.jsonl, line %d, surface %s: %w", i+1, s.Name, err)
		}
		s.Points = points
		surfaces = append(surfaces, s)
	}
	return surfaces, nil
}

// merge makes one point of the points of each configuration.
func merge(points []Point) ([]Point, error) {
	var merged []Point
	scores := map[tuner.Config][]float64{}
	for _, p := range points {
		if (p.Status == tuner.OK) != (p.Score > 0) {
			return nil, fmt.Errorf("%v: status %q with the score %v", p.Config, p.Status, p.Score)
		}
		scores[p.Config] = append(scores[p.Config], p.Score)
		if len(scores[p.Config]) == 1 {
			merged = append(merged, p)
		}
	}
	for i := range merged {
		median, err := stats.Median(scores[merged[i].Config])
		if err != nil {
			return nil, err
		}
		merged[i].Score = median
	}
	return merged, nil
}

// find gives the point of a configuration; false: it was never recorded.
func (s Surface) find(c tuner.Config) (Point, bool) {
	i := slices.IndexFunc(s.Points, func(p Point) bool { return p.Config == c })
	if i < 0 {
		return Point{}, false
	}
	return s.Points[i], true
}

// Score is the throughput recorded of the configuration, in ScoreUnit; 0 where it does not fit.
func (s Surface) Score(c tuner.Config) float64 {
	p, ok := s.find(c)
	if !ok || !s.fits(p) {
		return 0
	}
	return p.Score
}

// collapse is how many times slower per sample than a smaller size a run is that
// went on past the card's memory.
const collapse = 3

// fits says whether a point is a proper run: it ran, within the card's memory, and
// did not collapse. Where memory overflows into the host's a run goes on without an
// error, many times slower; where no peak tells, that is what shows it.
func (s Surface) fits(p Point) bool {
	if p.Status != tuner.OK {
		return false
	}
	if s.MemoryBytes > 0 && p.PeakBytes > 0 {
		return p.PeakBytes <= s.MemoryBytes
	}
	for _, q := range s.Points {
		if q.Set() == p.Set() && q.Accumulation == p.Accumulation && q.MicroBatch < p.MicroBatch && q.Score > collapse*p.Score {
			return false
		}
	}
	return true
}
