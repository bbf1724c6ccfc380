package reports

import (
	"fmt"
	"math"

	"autotune/harness"
	"autotune/tuner"
	"autotune/tuner/stats"
)

// significant is the probability below which a change is not taken for noise.
const significant = 0.05

// Verdict says what a row of a comparison comes to.
type Verdict string

// The verdicts.
const (
	Regression Verdict = "regression" // worse than the threshold, and significant
	Worse      Verdict = "worse"      // significantly worse, within the threshold
	Same       Verdict = "same"       // no significant change, and none beyond the threshold can hide in the noise
	Unclear    Verdict = "unclear"    // no significant change, but the interval reaches beyond the threshold, or there are too few repeats for one
	Better     Verdict = "better"     // significantly better
	Stopped    Verdict = "fails now"  // every trial ran before, and one fails now
	Started    Verdict = "runs now"   // no trial ran before
)

// The metrics of a comparison.
const (
	MetricThroughput = "throughput" // samples/s
	MetricMemory     = "memory"     // peak of the limit's counter, bytes
)

// CheckOptions says how two runs are held against each other.
type CheckOptions struct {
	Thresholds
	// AllowDifferent compares runs of other hardware or settings all the same;
	// configurations are then matched by precision, micro-batch, accumulation
	// steps and knobs alone.
	AllowDifferent bool
}

// ComparisonRow is one metric of one configuration that both runs have.
type ComparisonRow struct {
	Config tuner.Config
	Metric string
	// Baseline and Run are medians over repeats with their intervals, in base
	// units; zero where the configuration did not run.
	Baseline, Run stats.Interval
	// BaselineTrials and RunTrials are the trials that the samples come from, one sample each.
	BaselineTrials, RunTrials []int
	// Change is the ratio of run to baseline minus 1, with its 95% interval; zero where one of them did not run.
	Change stats.Interval
	// P is the probability of a change as large by chance alone; 1 where one of them did not run.
	P       float64
	Verdict Verdict
}

// Comparison is a run held against its baseline.
type Comparison struct {
	Baseline, Run string // folders
	Unit          string // of throughput, such as "images/s"
	Thresholds    Thresholds
	Rows          []ComparisonRow
	Regressed     bool         // a row is a Regression or Stopped
	Differences   []Difference // hardware and settings, compared all the same
	Libraries     []Difference // versions of the libraries that train, compared all the same
	Versions      []Difference // other software
	Warnings      []string     // doubts, a sentence each
}

// Check holds a run against its baseline. The sample of a configuration is one
// value for each of its trials that ran whole: for throughput the median over
// the trial's steps, for memory its peak. A change is significant where p < 0.05
// and the interval of the ratio leaves 1 out. Runs of other hardware or settings
// give a *DifferentError, runs without a common configuration a *harness.UsageError.
func Check(baseline, run *harness.Run, o CheckOptions) (Comparison, error) {
	c := Comparison{
		Baseline: baseline.Dir, Run: run.Dir, Unit: rateUnit(run.Header.Facts), Thresholds: o.Thresholds,
		Differences: differences(baseline, run), Versions: versionDifferences(baseline, run),
		Libraries: mapDifferences("", baseline.Header.Versions, run.Header.Versions, unknown),
	}
	if len(c.Differences) > 0 && !o.AllowDifferent {
		return Comparison{}, &DifferentError{Differences: c.Differences}
	}
	old, err := digestOf(baseline)
	if err != nil {
		return Comparison{}, err
	}
	current, err := digestOf(run)
	if err != nil {
		return Comparison{}, err
	}
	common, before := 0, map[tuner.Config]configuration{}
	for _, was := range old.configs {
		before[was.Config] = was
	}
	for _, now := range current.configs {
		was, both := before[now.Config]
		if !both {
			continue
		}
		common++
		if err := c.compare(was, now); err != nil {
			return Comparison{}, fmt.Errorf("comparing %s: %w", now.Config, err)
		}
	}
	if common == 0 {
		return Comparison{}, &harness.UsageError{Text: fmt.Sprintf(
			"%s and %s have no configuration in common: bench the same sizes in both", baseline.Dir, run.Dir)}
	}
	return c, nil
}

// compare adds the rows of one configuration.
func (c *Comparison) compare(was, now configuration) error {
	if was.ran() && now.ran() {
		return c.compareMeasured(was, now)
	}
	row := ComparisonRow{Config: now.Config, Metric: MetricThroughput, Baseline: was.Throughput, Run: now.Throughput,
		BaselineTrials: numbers(was.Results), RunTrials: numbers(now.Results), P: 1, Verdict: Started}
	switch {
	case was.ran():
		row.Verdict = Stopped
		c.warn("%s ran before and does not run now: %s", now.Config, firstReason(now))
	case !now.ran():
		c.warn("%s ran in neither run", now.Config)
		return nil
	}
	c.add(row)
	return nil
}

// compareMeasured adds the rows of a configuration that ran in both.
func (c *Comparison) compareMeasured(was, now configuration) error {
	enough, err := c.compareMetric(was, now, MetricThroughput, c.Thresholds.Throughput)
	if err != nil {
		return err
	}
	if failed := now.failed(); len(failed) > 0 {
		c.warn("%s: %d of %d trials did not run now: %s", now.Config, len(failed), len(now.Results), firstReason(now))
		if len(was.failed()) == 0 {
			c.Rows[len(c.Rows)-1].Verdict = Stopped
			c.Regressed = true
		}
	}
	if !enough {
		c.warn("%s has too few repeats (%d and %d) to tell a change from chance; bench with --repeat 6",
			now.Config, len(sampleOf(was, MetricThroughput).values), len(sampleOf(now, MetricThroughput).values))
	}
	if len(was.Peaks) == 0 || len(now.Peaks) == 0 {
		c.warn("%s: no peak memory is known on both sides", now.Config)
		return nil
	}
	_, err = c.compareMetric(was, now, MetricMemory, c.Thresholds.Memory)
	return err
}

// compareMetric adds the row of one metric, and says whether there were enough repeats.
func (c *Comparison) compareMetric(was, now configuration, metric string, threshold float64) (enough bool, err error) {
	before, after := sampleOf(was, metric), sampleOf(now, metric)
	ratio, err := stats.CompareRatio(before.values, after.values)
	if err != nil {
		return false, err
	}
	row := ComparisonRow{
		Config: now.Config, Metric: metric, BaselineTrials: before.trials, RunTrials: after.trials,
		Change: stats.Interval{Median: ratio.Ratio - 1, Low: ratio.Low - 1, High: ratio.High - 1}, P: ratio.P,
	}
	if row.Baseline, err = stats.MedianInterval(before.values); err != nil {
		return false, err
	}
	if row.Run, err = stats.MedianInterval(after.values); err != nil {
		return false, err
	}
	row.Verdict = judge(metric, ratio, threshold)
	c.add(row)
	return ratio.Enough, nil
}

func (c *Comparison) add(row ComparisonRow) {
	c.Rows = append(c.Rows, row)
	c.Regressed = c.Regressed || row.Verdict == Regression || row.Verdict == Stopped
}

func (c *Comparison) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

// judge gives the verdict on a ratio of the run's figures to the baseline's.
func judge(metric string, ratio stats.Ratio, threshold float64) Verdict {
	loss, worst := ratio.Ratio-1, ratio.High-1
	if metric == MetricThroughput {
		loss, worst = 1-ratio.Ratio, 1-ratio.Low
	}
	noise := ratio.P >= significant || ratio.Contains(1)
	hidden := (!ratio.Enough || worst > threshold) && !math.IsInf(threshold, 1)
	switch {
	case noise && hidden:
		return Unclear
	case noise:
		return Same
	case loss > threshold:
		return Regression
	case loss > 0:
		return Worse
	}
	return Better
}

// sample is one value a trial.
type sample struct {
	values []float64
	trials []int
}

// sampleOf is a configuration's sample of a metric: its trials that ran whole and have the figure.
func sampleOf(c configuration, metric string) sample {
	var s sample
	for _, r := range c.Results {
		if !r.ran() || metric == MetricMemory && r.PeakBytes == 0 {
			continue
		}
		value := r.Throughput.Median
		if metric == MetricMemory {
			value = float64(r.PeakBytes)
		}
		s.values = append(s.values, value)
		s.trials = append(s.trials, r.Number)
	}
	return s
}

func numbers(list []result) []int {
	var all []int
	for _, r := range list {
		all = append(all, r.Number)
	}
	return all
}

// firstReason is why the first trial that did not run did not.
func firstReason(c configuration) string {
	r := c.failed()[0]
	return fmt.Sprintf("trial %d, %s: %s", r.Number, r.Status, r.shortReason())
}
