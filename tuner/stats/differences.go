package stats

// differences are all x-y with x of one sample and y of another, both sorted.
// They are not laid out in memory: two samples of n values have n*n.
type differences struct{ x, y []float64 }

// kth is the k-th smallest difference, k from 1, found by bisection between the
// smallest and the largest one.
func (d differences) kth(k int) float64 {
	low := d.x[0] - d.y[len(d.y)-1]
	high := d.x[len(d.x)-1] - d.y[0]
	if d.atMost(low) >= k {
		return low
	}
	for {
		mid := low/2 + high/2
		if mid <= low || mid >= high { // neighbours: the count jumps at high, which so is a difference
			return high
		}
		if d.atMost(mid) >= k {
			high = mid
		} else {
			low = mid
		}
	}
}

// atMost is the number of differences of at most t.
func (d differences) atMost(t float64) int {
	count, first := 0, 0 // y[first:] are the ones within t of x
	for _, x := range d.x {
		for first < len(d.y) && x-d.y[first] > t {
			first++
		}
		count += len(d.y) - first
	}
	return count
}
