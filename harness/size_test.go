//go:build unix

package harness_test

import (
	"strings"
	"testing"

	"autotune/harness"

	"pgregory.net/rapid"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "1048576": 1 << 20, "10B": 10, "512MiB": 512 << 20, "2GiB": 2 << 30, "1.5 GiB": 3 << 29,
		"512mib": 512 << 20, "64KiB": 64 << 10, "1KB": 1000, "3MB": 3e6, " 2 GB ": 2e9, "1TiB": 1 << 40, "0.5KiB": 512, "0.6B": 1,
	} {
		if got, err := harness.ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]harness.Limit{
		"none": {None: true}, " None ": {None: true}, "90%": {Percent: 90}, "12.5 %": {Percent: 12.5}, "100%": {Percent: 100}, "2GiB": {Bytes: 2 << 30},
	} {
		if got, err := harness.ParseLimit(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestParseLimitErrors(t *testing.T) {
	for _, text := range []string{
		"", " ", "3 potatoes", "-5MiB", "0", "0%", "-1%", "101%", "%", "GiB", "1e3", "NaN", "inf", "0x10", "1..2", "1,5GiB", "5 Gi B", "99999999999999999999GiB", "0.4B",
	} {
		_, err := harness.ParseLimit(text)
		if exitCode(err) != harness.ExitUsage || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "such as") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// TestFormatBytesIsReadBack checks that what is shown means what it stands for, to the digits shown.
func TestFormatBytesIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1<<50).Draw(t, "n")
		back, err := harness.ParseBytes(harness.FormatBytes(n))
		if err != nil || float64(back) < 0.94*float64(n) || float64(back) > 1.06*float64(n) {
			t.Fatalf("%d is shown as %s, which is %d (%v)", n, harness.FormatBytes(n), back, err)
		}
	})
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 512 << 20: "512 MiB", 1536 << 20: "1.5 GiB", 2 << 30: "2 GiB"} {
		if got := harness.FormatBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// FuzzParseLimit checks that no text makes a limit that is not one.
func FuzzParseLimit(f *testing.F) {
	for _, seed := range []string{"90%", "2GiB", "none", "3 potatoes", "-1", "1e9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := harness.ParseLimit(text)
		if err == nil && !l.None && !(l.Bytes > 0 && l.Percent == 0) && !(l.Percent > 0 && l.Percent <= 100 && l.Bytes == 0) {
			t.Fatalf("%q is %+v", text, l)
		}
	})
}
