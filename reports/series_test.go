package reports

import (
	"fmt"
	"testing"
)

// TestSeriesAreToldApart holds that no two of 25 series have one colour and one shape.
func TestSeriesAreToldApart(t *testing.T) {
	seen := map[string]int{}
	for n := range 25 {
		style := fmt.Sprintf("%v %T", series[n%len(series)], shapeOf(n))
		if other, taken := seen[style]; taken {
			t.Errorf("series %d and %d look alike: %s", other, n, style)
		}
		seen[style] = n
	}
}
