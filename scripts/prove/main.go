// Prove checks a recommendation against measurements made apart from it: a
// search under a memory limit, then `autotune bench` of the recommended
// configuration, and of the three sizes on each side of the border.
//
// It prints what both gave and exits with 1 where a peak differs by more than
// 3%, where the throughputs' intervals do not overlap and the medians differ by
// more than 5%, or where bench's border is more than one size off.
//
//	go run ./scripts/prove
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"autotune/harness"
	"autotune/reports"
	"autotune/scripts/built"
)

const (
	peakTolerance       = 0.03
	throughputTolerance = 0.05
	sizesEachSide       = 3
)

func main() {
	model := flag.String("model", "resnet", "`NAME` of the model")
	limit := flag.String("memory-limit", "512MiB", "`SIZE` of the limit")
	flag.Parse()
	ok, err := prove(*model, *limit)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// prove runs the search and both benches; ok says that they agree.
func prove(model, limit string) (ok bool, err error) {
	dir, err := os.MkdirTemp("", "prove")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	binary, err := built.Autotune(dir)
	if err != nil {
		return false, err
	}
	run := func(into any, args ...string) error {
		fmt.Printf("autotune %s\n", strings.Join(args, " "))
		c := exec.Command(binary, append(args, "--json", "--quiet")...)
		c.Dir, c.Stderr = dir, os.Stderr
		out, err := c.Output()
		if err != nil {
			return fmt.Errorf("autotune %s: %w", strings.Join(args, " "), err)
		}
		return json.Unmarshal(out, into)
	}
	fmt.Println(time.Now().UTC().Format(time.DateOnly))
	var r harness.Recommendation
	if err := run(&r, "--model", model, "--memory-limit", limit, "--out", "r"); err != nil {
		return false, err
	}
	var alone, around []reports.BenchResult
	if err := run(&alone, "bench", "--model", model, "--memory-limit", limit, "--out", "alone",
		"--batch", fmt.Sprint(r.MicroBatch), "--accumulation", fmt.Sprint(r.Accumulation)); err != nil {
		return false, err
	}
	border := r.Largest[0]
	if err := run(&around, "bench", "--model", model, "--memory-limit", limit, "--out", "around",
		"--batch", fmt.Sprintf("%d..%d", max(1, border.MicroBatch-sizesEachSide+1), border.MicroBatch+sizesEachSide),
		"--accumulation", fmt.Sprint(border.Accumulation)); err != nil {
		return false, err
	}
	agrees := sameConfiguration(r, alone[0])
	return sameBorder(r, around) && agrees, nil
}

// sameConfiguration prints the recommendation beside bench's measurement of it.
func sameConfiguration(r harness.Recommendation, b reports.BenchResult) bool {
	fmt.Printf("\nrecommended %s %dx%d\n", r.Precision, r.MicroBatch, r.Accumulation)
	if b.Peak == nil || b.Throughput == nil {
		fmt.Printf("bench: %s\n", b.Status)
		return false
	}
	peak := float64(*b.Peak)/float64(r.PeakBytes) - 1
	throughput := b.Throughput.Median/r.Throughput.Median - 1
	overlap := b.Throughput.Low <= r.Throughput.High && r.Throughput.Low <= b.Throughput.High
	fmt.Printf("peak        %d B, bench %d B (raw %v): %+.2f%%\n", r.PeakBytes, *b.Peak, b.Peaks, peak*100)
	fmt.Printf("throughput  %.2f (%.2f to %.2f) samples/s, bench %.2f (%.2f to %.2f): %+.2f%%, intervals overlap: %t\n",
		r.Throughput.Median, r.Throughput.Low, r.Throughput.High, b.Throughput.Median, b.Throughput.Low, b.Throughput.High, throughput*100, overlap)
	return math.Abs(peak) <= peakTolerance && (overlap || math.Abs(throughput) <= throughputTolerance)
}

// sameBorder prints what bench found around the border.
func sameBorder(r harness.Recommendation, around []reports.BenchResult) bool {
	border := r.Largest[0]
	fmt.Printf("\nborder at %d accumulation steps: %d ran, bound %s\n", border.Accumulation, border.MicroBatch, border.Bound)
	largest := 0
	for _, b := range around {
		peak := "not known"
		if b.Peak != nil {
			peak = fmt.Sprintf("%d B (raw %v)", *b.Peak, b.Peaks)
		}
		fmt.Printf("%4d  %-8s peak %s\n", b.MicroBatch, b.Status, peak)
		if b.Status == "ok" {
			largest = max(largest, b.MicroBatch)
		}
	}
	fmt.Printf("largest that bench ran every time: %d\n", largest)
	return math.Abs(float64(largest-border.MicroBatch)) <= 1
}
