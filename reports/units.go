package reports

import (
	"math"
	"strconv"
	"strings"
	"time"

	"autotune/harness"
	"autotune/tuner/stats"
)

// unit is one scale for a whole column or axis: a value in base units divided
// by size is the figure to show.
type unit struct {
	name string
	size float64
}

var (
	byteUnits = []unit{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}}
	timeUnits = []unit{{"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}}
)

// unitFor is the largest of the units, which rise, in which the value is 1 or more.
func unitFor(units []unit, largest float64) unit {
	best := units[0]
	for _, u := range units {
		if math.Abs(largest) >= u.size {
			best = u
		}
	}
	return best
}

// text is the value, in base units, in this unit, without the unit's name.
func (u unit) text(value float64) string { return figure(value / u.size) }

// figure is a number with four significant digits, or whole where it has more
// digits before the point, and no exponent.
func figure(value float64) string {
	decimals := 3
	for size := math.Abs(value); size >= 10 && decimals > 0; size /= 10 {
		decimals--
	}
	for size := math.Abs(value); size < 1 && size > 0 && decimals < 9; size *= 10 {
		decimals++
	}
	return strconv.FormatFloat(value, 'f', decimals, 64)
}

// secondsText is a time in the unit that suits it, such as "31.20 ms" or "3m18s".
func secondsText(s float64) string {
	if s >= 120 {
		return time.Duration(math.Round(s) * float64(time.Second)).String()
	}
	u := unitFor(timeUnits, s)
	return u.text(s) + " " + u.name
}

// percent is a fraction as a percentage with its sign where signed, such as "+4.1%".
func percent(fraction float64, signed bool) string {
	text := strconv.FormatFloat(100*fraction, 'f', 1, 64) + "%"
	if text == "-0.0%" {
		text = "0.0%"
	}
	if signed && !strings.HasPrefix(text, "-") && text != "0.0%" {
		return "+" + text
	}
	return text
}

// rateUnit is what throughput is counted in, such as "images/s".
func rateUnit(facts harness.ModelFacts) string { return sampleUnit(facts) + "s/s" }

// sampleUnit is what one sample is called: "sample" where the model does not say.
func sampleUnit(facts harness.ModelFacts) string {
	if facts.SampleUnit == "" {
		return "sample"
	}
	return facts.SampleUnit
}

// intervalText is a median, with its interval where there is one.
func intervalText(i stats.Interval) string {
	if i.Low == i.High {
		return figure(i.Median)
	}
	return figure(i.Median) + " (" + figure(i.Low) + " to " + figure(i.High) + ")"
}
