package reports_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autotune/harness"
	"autotune/reports"
)

func TestParseThresholds(t *testing.T) {
	inf := math.Inf(1)
	for text, want := range map[string]reports.Thresholds{
		"throughput:5%,memory:5%":         {Throughput: 0.05, Memory: 0.05},
		"memory:0%":                       {Throughput: inf, Memory: 0},
		" throughput : 2.5% , memory:10%": {Throughput: 0.025, Memory: 0.1},
	} {
		got, err := reports.ParseThresholds(text)
		if err != nil || got != want {
			t.Errorf("%q gives %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestParseThresholdsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "has no colon",
		"throughput":          `"throughput" has no colon`,
		"speed:5%":            `unknown metric "speed"`,
		"memory:5%,memory:6%": "memory is given twice",
		"memory:5":            `"5" is not a percentage such as 5%`,
		"memory:%":            `"%" is not a percentage`,
		"memory:-1%":          "not from 0% to below 100%",
		"memory:100%":         "not from 0% to below 100%",
		"memory:NaN%":         "not from 0% to below 100%",
		"throughput:5%,":      "has no colon",
	} {
		_, err := reports.ParseThresholds(text)
		var usage *harness.UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%q: error %v is no usage error", text, err)
			continue
		}
		for _, part := range []string{want, fmt.Sprintf("%q", text), "throughput:5%,memory:5%"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: error %q does not say %q", text, err, part)
			}
		}
	}
}

func TestParseThresholdsReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.IntRange(0, 9999).Draw(t, "throughput")
		b := rapid.IntRange(0, 9999).Draw(t, "memory")
		got, err := reports.ParseThresholds(fmt.Sprintf("memory:%d.%02d%%,throughput:%d.%02d%%", b/100, b%100, a/100, a%100))
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Throughput-float64(a)/1e4) > 1e-12 || math.Abs(got.Memory-float64(b)/1e4) > 1e-12 {
			t.Fatalf("%d and %d hundredths of a percent give %+v", a, b, got)
		}
	})
}

func FuzzParseThresholds(f *testing.F) {
	for _, text := range []string{"throughput:5%,memory:5%", "memory:1e1%", "", ":%", "memory:0x1p-2%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := reports.ParseThresholds(text)
		if err != nil {
			return
		}
		for _, v := range []float64{got.Throughput, got.Memory} {
			if !(v >= 0 && v < 1) && !math.IsInf(v, 1) {
				t.Errorf("%q gives %v", text, v)
			}
		}
	})
}
