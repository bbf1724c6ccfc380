package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"autotune/tuner/stats"
)

func TestVerdict(t *testing.T) {
	ratio := func(r, low, high float64) stats.Ratio {
		return stats.Ratio{Ratio: r, Low: low, High: high, Enough: true}
	}
	for _, c := range []struct {
		ratio stats.Ratio
		want  string
	}{
		{ratio(1.001, 0.995, 1.009), "reached"},
		{ratio(1.001, 0.9, 1.1), "reached by the estimate; the interval is wider"},
		{ratio(1.03, 0.99, 1.06), "missed by the estimate; the interval contains 1"},
		{ratio(1.03, 1.001, 1.06), "missed by the estimate; the interval does not contain 1"},
		{ratio(1.03, 1.02, 1.04), "missed"},
		{ratio(0.9, 0.89, 0.91), "missed"},
		{stats.Ratio{Ratio: 1.001}, "reached by the estimate"},
		{stats.Ratio{Ratio: 1.1}, "missed by the estimate"},
	} {
		if got := verdict(c.ratio, 0.01); got != c.want {
			t.Errorf("%+v: %q, want %q", c.ratio, got, c.want)
		}
	}
}

// A process whose number is in the file is seen with the memory that it has.
func TestSample(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("there is no /proc here")
	}
	const size = 64 << 20
	touched := make([]byte, size)
	for i := range touched {
		touched[i] = 1
	}
	file := filepath.Join(t.TempDir(), "pid")
	if err := os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	close(stop)
	s := sample(file, stop)
	runtime.KeepAlive(touched)
	if s.anonymous < size || s.files <= 0 {
		t.Errorf("seen %+v of a process with %d bytes and more", s, size)
	}
}
