// Gate measures how often `autotune check` errs at its defaults: how many false alarms
// it gives on pairs of runs of one program, and how many slow-downs it misses. The
// method, the thresholds and the seeds are in docs/regression.md.
//
//	go run ./scripts/gate --record         record the noise anew, then the rest (half an hour)
//	go run ./scripts/gate                  with the recorded noise (six minutes)
//	go run ./scripts/gate --real 0         the drawn pairs alone
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"

	"autotune/harness"
	"autotune/reports"
	"autotune/scripts/built"
	"autotune/tuner/stats"
)

// What docs/regression.md lays down.
const (
	noiseFile    = "scripts/gate/testdata/noise/" + harness.JournalName
	recorded     = 600 // repeats of the recorded noise
	drawnPairs   = 200 // seeds 1 to 200
	slowDown     = 0.10
	mostAlarms   = 0.05
	leastCaught  = 0.90
	mostWidth    = 0.04
	mostReal     = 2
	configModel  = "mlp"
	configBatch  = "64"
	realPairsRun = 20
)

func main() {
	record := flag.Bool("record", false, "record the noise first")
	realPairs := flag.Int("real", realPairsRun, "`COUNT` of real pairs")
	flag.Parse()
	if err := run(*record, *realPairs); err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(1)
	}
}

func run(record bool, realPairs int) error {
	dir, err := os.MkdirTemp("", "gate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := built.Autotune(dir)
	if err != nil {
		return err
	}
	b := bench{binary: binary, folder: dir}
	if record {
		if err := b.record(noiseFile); err != nil {
			return err
		}
	}
	noise, err := harness.ReadRun(noiseFile)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s, %s, %d cores\n", time.Now().UTC().Format(time.DateOnly), runtime.Version(), *noise.Header.Environment.CPUModel, noise.Header.Environment.Cores)
	fmt.Printf("recorded %s: %d repeats of %s\n\n", noise.Header.Created.Format(time.DateOnly), len(noise.Trials), configModel)
	if err := drawn(noise); err != nil || realPairs == 0 {
		return err
	}
	return b.real(realPairs)
}

// drawn prints the error rates on pairs that are drawn from the recorded noise.
func drawn(noise *harness.Run) error {
	var same, slower tally
	for seed := uint64(1); seed <= drawnPairs; seed++ {
		before, after := draw(noise, seed)
		if err := same.add(before, after); err != nil {
			return err
		}
		if err := slower.add(before, slowed(after, slowDown)); err != nil {
			return err
		}
	}
	fmt.Printf("%d drawn pairs, seeds 1 to %d\n", drawnPairs, drawnPairs)
	fmt.Printf("false alarms                   %3d  %5.1f%%  (goal at most %g%%)\n", same.alarms, 100*same.rate(), 100*mostAlarms)
	fmt.Printf("slow-downs of %g%% caught       %3d  %5.1f%%  (goal at least %g%%)\n", 100*slowDown, slower.alarms, 100*slower.rate(), 100*leastCaught)
	width, err := stats.Median(same.widths)
	if err != nil {
		return err
	}
	fmt.Printf("median width of the interval        %5.1f%%  (goal at most %g%%)\n\n", 100*width, 100*mostWidth)
	return nil
}

// tally counts what check says of pairs.
type tally struct {
	pairs, alarms int
	widths        []float64 // of the intervals of the change in throughput
}

func (t *tally) add(before, after *harness.Run) error {
	c, err := reports.Check(before, after, reports.CheckOptions{Thresholds: reports.DefaultThresholds()})
	if err != nil {
		return err
	}
	t.pairs++
	if c.Regressed {
		t.alarms++
	}
	for _, row := range c.Rows {
		if row.Metric == reports.MetricThroughput {
			t.widths = append(t.widths, row.Change.High-row.Change.Low)
		}
	}
	return nil
}

func (t *tally) rate() float64 { return float64(t.alarms) / float64(t.pairs) }
