package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"autotune/harness"
	"autotune/tuner"
	"autotune/tuner/stats"
)

// The goals, as parts of 1, by which the ratios may differ from 1.
const (
	stepGoal       = 0.01
	throughputGoal = 0.02
)

// throughputs holds reported throughputs against plain loops.
func throughputs(out io.Writer, list []job, pairs int) error {
	fmt.Fprintln(out, "| model, engine | micro-batch | reported, samples/s | plain loop by the wall clock, samples/s | ratio, 95% interval | goal within 2% | step time to the plain loop's, 95% interval | goal within 1% | harness's processor time to wall |")
	fmt.Fprintln(out, "| --- | ---: | ---: | ---: | ---: | --- | ---: | --- | ---: |")
	for _, j := range list {
		c, err := compare(j, pairs)
		if err != nil {
			return fmt.Errorf("%s: %w", j.name(), err)
		}
		rate, err := c.throughput.ratio()
		if err != nil {
			return err
		}
		step, err := c.step.ratio()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %s | %d | %.4g | %.4g | %s | %s | %s | %s | %.2f%% |\n", j.name(), j.batch, median(c.throughput.harness), median(c.throughput.bare),
			ratioText(rate), verdict(rate, throughputGoal), ratioText(step), verdict(step, stepGoal), 100*median(c.ownTime))
	}
	_, err := fmt.Fprintln(out)
	return err
}

// comparison is what pairs of a trial and a plain loop gave.
type comparison struct {
	step, throughput sides
	ownTime          []float64 // the harness's processor time over the trial's wall time
}

// compare runs both sides in turn.
func compare(j job, pairs int) (comparison, error) {
	var c comparison
	plan, workload, err := prepare(j, j.batch, "")
	if err != nil {
		return c, err
	}
	for range pairs {
		trial, reported, err := soak(plan, workload)
		if err != nil {
			return c, err
		}
		b, err := runBare(j, workload)
		if err != nil {
			return c, fmt.Errorf("the plain loop: %w", err)
		}
		c.step.add(median(b.Steps), median(trial.StepSeconds))
		c.throughput.add(float64(b.Samples)/b.Seconds, reported)
		c.ownTime = append(c.ownTime, trial.HarnessCPUSeconds/trial.WallSeconds)
	}
	return c, nil
}

// sides are the figures of both sides, one of each for every pair.
type sides struct{ bare, harness []float64 }

func (s *sides) add(bare, harness float64) {
	s.bare, s.harness = append(s.bare, bare), append(s.harness, harness)
}

// ratio is that of the harness's figures to the plain loop's.
func (s *sides) ratio() (stats.Ratio, error) { return stats.CompareRatio(s.bare, s.harness) }

func ratioText(r stats.Ratio) string {
	if !r.Enough {
		return fmt.Sprintf("%.4f, too few pairs for an interval", r.Ratio)
	}
	return fmt.Sprintf("%.4f, %.4f to %.4f", r.Ratio, r.Low, r.High)
}

// verdict says whether a ratio is within the goal of 1: as far as its interval tells, which noise may make wider than the goal.
func verdict(r stats.Ratio, goal float64) string {
	low, high := 1-goal, 1+goal
	switch {
	case !r.Enough && r.Ratio >= low && r.Ratio <= high:
		return "reached by the estimate"
	case !r.Enough:
		return "missed by the estimate"
	case r.Low >= low && r.High <= high:
		return "reached"
	case r.High < low || r.Low > high:
		return "missed"
	case r.Ratio >= low && r.Ratio <= high:
		return "reached by the estimate; the interval is wider"
	case r.Contains(1):
		return "missed by the estimate; the interval contains 1"
	}
	return "missed by the estimate; the interval does not contain 1"
}

// soak makes the run and gives its soak, and the throughput that was reported for it in samples/s.
func soak(plan harness.Plan, w harness.Workload) (harness.TrialRecord, float64, error) {
	dir, err := os.MkdirTemp("", "witness")
	if err != nil {
		return harness.TrialRecord{}, 0, err
	}
	defer os.RemoveAll(dir)
	run, err := harness.Tune(context.Background(), harness.Options{Dir: dir, Plan: plan, Workload: w})
	if err != nil {
		return harness.TrialRecord{}, 0, err
	}
	last := run.Trials[len(run.Trials)-1]
	if last.Purpose != tuner.Soak || run.Recommendation == nil {
		return last, 0, fmt.Errorf("the run ended with a trial for %s, not with the soak", last.Purpose)
	}
	return last, run.Recommendation.Throughput.Median, nil
}

// median is the median of figures of which there is one at least.
func median(values []float64) float64 {
	m, err := stats.Median(values)
	if err != nil {
		panic(err)
	}
	return m
}
