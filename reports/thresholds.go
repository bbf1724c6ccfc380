package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"autotune/harness"
)

// Thresholds say how much worse a run may be than its baseline, as fractions of
// the baseline: 0.05 allows 5% less throughput or 5% more memory. 0 allows
// nothing that is significant; +Inf does not look at the metric.
type Thresholds struct {
	Throughput float64
	Memory     float64
}

// DefaultThresholds are those of check without --fail-on: 5% of both metrics. How often they err is in docs/regression.md.
func DefaultThresholds() Thresholds { return Thresholds{Throughput: 0.05, Memory: 0.05} }

// ParseThresholds reads the form "throughput:5%,memory:5%". A metric that is not
// named is not looked at (+Inf). A *harness.UsageError names the part that cannot be read:
// an unknown or repeated metric, a value without %, below 0 or of 100 and more.
func ParseThresholds(text string) (Thresholds, error) {
	t := Thresholds{Throughput: math.Inf(1), Memory: math.Inf(1)}
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(part, ":")
		if !found {
			return Thresholds{}, thresholdError(text, "%q has no colon", part)
		}
		var field *float64
		name = strings.TrimSpace(name)
		switch name {
		case "throughput":
			field = &t.Throughput
		case "memory":
			field = &t.Memory
		default:
			return Thresholds{}, thresholdError(text, "unknown metric %q", name)
		}
		if !math.IsInf(*field, 1) {
			return Thresholds{}, thresholdError(text, "%s is given twice", name)
		}
		fraction, err := parsePercent(strings.TrimSpace(value))
		if err != nil {
			return Thresholds{}, thresholdError(text, "%s: %v", name, err)
		}
		*field = fraction
	}
	return t, nil
}

// parsePercent reads "5%" as 0.05, from 0% to below 100%.
func parsePercent(text string) (float64, error) {
	digits, found := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(digits, 64)
	if !found || err != nil {
		return 0, fmt.Errorf("%q is not a percentage such as 5%%", text)
	}
	if !(value >= 0 && value < 100) {
		return 0, fmt.Errorf("%q is not from 0%% to below 100%%", text)
	}
	return value / 100, nil
}

func thresholdError(text, format string, args ...any) error {
	return &harness.UsageError{Text: fmt.Sprintf("thresholds %q: %s; write them as throughput:5%%,memory:5%%",
		text, fmt.Sprintf(format, args...))}
}
