package reports

import (
	"fmt"
	"slices"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/tuner"
	"autotune/tuner/stats"
)

// result is one trial with its record and what it means.
type result struct {
	tuner.Trial
	Record *harness.TrialRecord
	Reason string // why it has its status, a clause
	// Seen is the highest use known of the counter that the limit holds, in bytes:
	// the peak or, where the trial failed before it could report one, what was
	// seen from outside; 0: not known.
	Seen int64
	// AboveLimit says that Seen is above the memory limit.
	AboveLimit bool
	// Throughput is in samples/s of whole optimizer steps, over the trial's steps; zero where none was timed.
	Throughput stats.Interval
}

// digest is a run with what its trials mean: what every report is made from.
type digest struct {
	*harness.Run
	results []result        // one a trial, in the order run
	configs []configuration // see group
}

// digestOf joins a run's records with what they mean.
func digestOf(run *harness.Run) (*digest, error) {
	d := &digest{Run: run}
	judging := harness.NewJudging(run.Header)
	d.results = make([]result, 0, len(run.Trials))
	for i := range run.Trials {
		record := &run.Trials[i]
		trial, reason := judging.Judge(*record)
		r := result{Trial: trial, Record: record, Reason: reason, Seen: trial.PeakBytes, Throughput: trial.Throughput()}
		if r.Seen == 0 && run.Header.LimitOn == protocol.Resident {
			r.Seen = record.SeenPeakBytes
		}
		r.AboveLimit = run.Header.LimitBytes != nil && r.Seen > *run.Header.LimitBytes
		d.results = append(d.results, r)
	}
	var err error
	d.configs, err = group(d.results)
	return d, err
}

// ran says that the trial counts as a measurement: it ran whole, and has a throughput.
func (r result) ran() bool { return r.Status == tuner.OK && r.Throughput.Median > 0 }

// stopped says that the trial ended for want of memory before it was done, so that it needs more than was seen.
func (r result) stopped() bool { return r.Status == tuner.OOM && r.Record.Failure != nil }

// shape is micro-batch x accumulation steps, such as "32x4".
func shape(c tuner.Config) string { return fmt.Sprintf("%dx%d", c.MicroBatch, c.Accumulation) }

// shortReason says in a few words why a trial did not run: for a failure that is
// none of memory the first line of its own text, at most 200 characters; empty where the trial ran.
func (r result) shortReason() string {
	f := r.Record.Failure
	switch {
	case r.Status == tuner.OK:
		return ""
	case r.Status == tuner.OOM && (r.AboveLimit || f == nil || f.Type == harness.FailureOverLimit):
		return "peak above limit"
	case r.Status == tuner.Timeout:
		return "deadline passed"
	case r.Status == tuner.Interrupted:
		return "stopped by user"
	case r.Status == tuner.Diverged:
		return "loss not finite"
	case r.Status != tuner.OOM && f != nil && firstLine(f.Text) != "":
		return shorten(firstLine(f.Text), reasonLong)
	}
	return r.Reason
}

// configuration is everything that was seen of one configuration.
type configuration struct {
	tuner.Config
	// Results are its trials, in the order run.
	Results []result
	// Throughput is in samples/s: over the repeats of a bench, else over the
	// steps of the trial that timed the most of them; zero where none ran.
	Throughput stats.Interval
	// From are the numbers of the trials that Throughput comes from.
	From []int
	// Peaks are the raw peaks of the trials that ran, in bytes, in the order run.
	Peaks []int64
}

// group sorts results by configuration: by set in the order first
// seen, then by micro-batch and accumulation steps, rising. Interrupted trials
// are left out.
func group(list []result) ([]configuration, error) {
	index := map[tuner.Config]int{}
	sets := map[tuner.Set]int{}
	var configs []configuration
	for _, r := range list {
		if r.Status == tuner.Interrupted {
			continue
		}
		if _, seen := sets[r.Set()]; !seen {
			sets[r.Set()] = len(sets)
		}
		at, seen := index[r.Config]
		if !seen {
			at = len(configs)
			index[r.Config] = at
			configs = append(configs, configuration{Config: r.Config})
		}
		configs[at].Results = append(configs[at].Results, r)
	}
	for i := range configs {
		if err := configs[i].summarise(); err != nil {
			return nil, fmt.Errorf("repeats of %s: %w", configs[i].Config, err)
		}
	}
	slices.SortStableFunc(configs, func(a, b configuration) int {
		if s := sets[a.Set()] - sets[b.Set()]; s != 0 {
			return s
		}
		if s := a.MicroBatch - b.MicroBatch; s != 0 {
			return s
		}
		return a.Accumulation - b.Accumulation
	})
	return configs, nil
}

// summarise fills what follows from the results.
func (c *configuration) summarise() error {
	var repeats []float64
	longest := 0
	for _, r := range c.Results {
		if !r.ran() {
			continue
		}
		if r.PeakBytes > 0 {
			c.Peaks = append(c.Peaks, r.PeakBytes)
		}
		if r.Purpose == tuner.Bench {
			repeats = append(repeats, r.Throughput.Median)
			c.From = append(c.From, r.Number)
		} else if len(repeats) == 0 && len(r.StepSeconds) > longest {
			longest = len(r.StepSeconds)
			c.From = []int{r.Number}
			c.Throughput = r.Throughput
		}
	}
	if len(repeats) == 0 {
		return nil
	}
	var err error
	c.Throughput, err = stats.MedianInterval(repeats)
	return err
}

// ran says whether any of its trials did.
func (c configuration) ran() bool { return c.Throughput.Median > 0 }

// failed are its trials that did not run whole.
func (c configuration) failed() []result {
	return slices.DeleteFunc(slices.Clone(c.Results), result.ran)
}

// failures say why its failed trials did not run, a clause each.
func (c configuration) failures() []string {
	var list []string
	for _, r := range c.failed() {
		list = append(list, fmt.Sprintf("trial %d %s: %s", r.Number, r.Status, r.shortReason()))
	}
	return list
}

// warnings are sentences on what makes its trials' figures doubtful.
func (c configuration) warnings() []string {
	var list []string
	for _, r := range c.Results {
		for _, warning := range r.Warnings {
			list = append(list, fmt.Sprintf("trial %d: %s", r.Number, warning))
		}
	}
	return list
}

// highestPeak is the highest peak of the trials that ran, in bytes; 0: none is known.
func (c configuration) highestPeak() int64 {
	if len(c.Peaks) == 0 {
		return 0
	}
	return slices.Max(c.Peaks)
}

// status is the trials' common status, or how many ended otherwise, such as "ok, 1 of 6 crashed".
func (c configuration) status() string {
	failed := c.failed()
	switch {
	case len(failed) == 0:
		return string(tuner.OK)
	case c.ran():
		return fmt.Sprintf("ok, %d of %d %s", len(failed), len(c.Results), failed[0].Status)
	}
	return string(failed[0].Status)
}

// spread is the distance between the lowest and the highest value as a fraction of their
// median; 0 for fewer than two.
func spread(values []int64) float64 {
	if len(values) < 2 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return float64(sorted[len(sorted)-1]-sorted[0]) / float64(medianBytes(values))
}

// medianBytes is the median, the mean of the two middle values where there are two
// as in stats.Median; 0 for none.
func medianBytes(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	low, high := sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
	return low + (high-low)/2
}
