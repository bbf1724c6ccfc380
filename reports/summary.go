package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"autotune/harness"
	"autotune/tuner"
	"autotune/tuner/stats"
)

// Summary writes the answer in a few lines: the recommendation with its
// throughput, peak and headroom, why, what stopped the search, the spread of
// repeated peaks, and what else would help. For bench it is the table of
// configurations, for a search without an answer what is known instead.
func (r Report) Summary(w io.Writer) error {
	d, run := r.digest, r.Run
	if isBench(run) {
		return benchTable(w, d)
	}
	var b strings.Builder
	if run.Recommendation == nil {
		fmt.Fprintln(&b, wrap("", d.noAnswer()))
		writeFindings(&b, append(d.failures(), d.observations()...))
	} else {
		fmt.Fprintln(&b, wrap("Recommendation: ", recommendationText(run.Recommendation)))
		writeFindings(&b, d.findings())
	}
	if list := d.advise(); len(list) > 0 {
		fmt.Fprintln(&b, "What else would help:")
		for _, a := range list {
			fmt.Fprintln(&b, wrap("  - ", a.marked()))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeFindings writes findings, indented below what they explain.
func writeFindings(w io.Writer, list []finding) {
	for _, f := range list {
		fmt.Fprintln(w, wrap(fmt.Sprintf("  %-12s", f.Name), sentence(f.Text)))
	}
}

// marked is the advice, with a mark where it is not from this run.
func (a Advice) marked() string {
	if a.General {
		return "General: " + a.Text
	}
	return a.Text
}

// recommendationText is the settings in a line.
func recommendationText(r *harness.Recommendation) string {
	knobs := ""
	if r.Knobs != "" {
		knobs = " [" + r.Knobs + "]"
	}
	optimizer := r.Optimizer
	if r.Optimizer == harness.OwnOptimizer {
		optimizer = "the file's own optimizer"
	}
	return fmt.Sprintf("%s%s, micro-batch %d x %d accumulation %s, global batch %d, %s",
		r.Precision, knobs, r.MicroBatch, r.Accumulation, plural(r.Accumulation, "step"), r.GlobalBatch, optimizer)
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// finding is one line of the answer.
type finding struct{ Name, Text string }

// findings are the lines that explain a recommendation.
func (d *digest) findings() []finding {
	r := d.Recommendation
	list := []finding{
		{"Throughput", fmt.Sprintf("%s %s, trial %d (%s)", intervalText(r.Throughput), rateUnit(d.Header.Facts), r.Trial, d.proofText())},
		{"Peak memory", peakLine(r)},
		{"Why", r.Reason},
	}
	for _, b := range r.Largest {
		list = append(list, finding{"Largest", d.borderText(b)})
	}
	if text := d.spreadText(); text != "" {
		list = append(list, finding{"Spread", text})
	}
	list = append(list, d.predictions()...)
	list = append(list, d.failures()...)
	list = append(list, d.observations()...)
	for _, note := range r.Notes {
		list = append(list, finding{"Note", note})
	}
	if len(d.Header.Versions) > 0 {
		list = append(list, finding{"Versions", versionsText(d.Header)})
	}
	return append(list, finding{"Cost", fmt.Sprintf("%d trials in %s", r.Trials, secondsText(r.WallSeconds))})
}

// proofText says how well the throughput is known.
func (d *digest) proofText() string {
	r := d.Recommendation
	text := "not run again in a fresh process"
	if r.Soaked {
		text = "run again for longer in a fresh process"
	}
	from := slices.IndexFunc(d.results, func(t result) bool { return t.Number == r.Trial })
	if from >= 0 && len(d.results[from].StepSeconds) < stats.MinIntervalValues {
		text += fmt.Sprintf("; %d timed steps are too few for an interval", len(d.results[from].StepSeconds))
	}
	return text
}

// peakLine is the peak with its limit and headroom.
func peakLine(r *harness.Recommendation) string {
	if r.LimitBytes == nil || r.Headroom == nil {
		return fmt.Sprintf("%s %s (trial %d), no limit set", harness.FormatBytes(r.PeakBytes), counterOf(r.LimitOn).Held, r.Trial)
	}
	return fmt.Sprintf("%s %s (trial %d) of %s: headroom %s (%s)", harness.FormatBytes(r.PeakBytes), counterOf(r.LimitOn).Held, r.Trial, harness.FormatBytes(*r.LimitBytes),
		harness.FormatBytes(*r.Headroom), percent(float64(*r.Headroom)/float64(*r.LimitBytes), false))
}

// borderText says what the largest size is and what stopped a larger one.
func (d *digest) borderText(b tuner.Border) string {
	text := fmt.Sprintf("%s, %s: ", b.Set, passes(b.Accumulation))
	if b.MicroBatch == 0 {
		text += "no size ran"
	} else {
		text += fmt.Sprintf("%d ran (trial %d)", b.MicroBatch, b.RanTrial)
	}
	if b.FailedTrial != nil {
		return text + fmt.Sprintf(", the next did not fit (trial %d)", *b.FailedTrial)
	}
	text += "; stopped by: " + b.Bound
	switch b.Bound {
	case "global batch":
		text += " (--global-batch any searches on)"
	case "unsupported":
		text += d.unsupportedText(b.Set)
	case tuner.BoundData:
		text += d.dataText()
	}
	return text
}

// dataText is how few samples came where more were asked for, with the trial.
func (d *digest) dataText() string {
	least := result{}
	for _, r := range d.results {
		if 0 < r.Came && r.Came < r.MicroBatch && (least.Came == 0 || r.Came < least.Came) {
			least = r
		}
	}
	return fmt.Sprintf(" (batches of %d samples at most came, trial %d)", least.Came, least.Number)
}

// unsupportedText is what the engine said of a set that it cannot run, with the trial; empty where it said nothing.
func (d *digest) unsupportedText(s tuner.Set) string {
	for _, r := range d.results {
		if reason := r.shortReason(); r.Set() == s && r.Status == tuner.Unsupported && reason != "" {
			return fmt.Sprintf(" (trial %d: %s)", r.Number, reason)
		}
	}
	return ""
}

// spreadText is how far the peaks of the same configuration lay apart at most;
// empty where none ran twice.
func (d *digest) spreadText() string {
	widest, text := -1.0, ""
	for _, c := range d.configs {
		if s := spread(c.Peaks); len(c.Peaks) > 1 && s > widest {
			widest = s
			text = fmt.Sprintf("peaks of one configuration differ by at most %s (%s: %s)",
				percent(s, false), c.Config, c.peakList())
		}
	}
	return text
}

// peakList is a configuration's raw peaks with their trials, such as "431.2 MiB in
// trial 6, 432.0 MiB in trial 12".
func (c configuration) peakList() string {
	u := unitFor(byteUnits, float64(medianBytes(c.Peaks)))
	var texts []string
	for _, r := range c.Results {
		if r.ran() && r.PeakBytes > 0 {
			texts = append(texts, fmt.Sprintf("%s %s in trial %d", u.text(float64(r.PeakBytes)), u.name, r.Number))
		}
	}
	return strings.Join(texts, ", ")
}

// noAnswer says what is known of a search that has no recommendation.
func (d *digest) noAnswer() string {
	ran, least := 0, result{}
	for _, r := range d.results {
		if r.ran() {
			ran++
		}
		if r.Seen > 0 && (least.Seen == 0 || r.Seen < least.Seen) {
			least = r
		}
	}
	text := fmt.Sprintf("No recommendation: %d of %d trials ran", ran, len(d.Trials))
	if failed := d.failedText(); failed != "" {
		text += " (" + failed + ")"
	}
	if d.nothingFits() && least.Seen > 0 && d.Header.LimitBytes != nil {
		text += fmt.Sprintf("; the smallest peak seen is %s in trial %d", harness.FormatBytes(least.Seen), least.Number)
		if least.stopped() {
			text += ", which was stopped there and needs more"
		}
		text += fmt.Sprintf("; the limit is %s", harness.FormatBytes(*d.Header.LimitBytes))
	}
	if ran > 0 && d.Header.Headroom > 0 && !slices.ContainsFunc(d.results, d.leavesHeadroom) {
		text += fmt.Sprintf("; none left the headroom of %s", harness.FormatBytes(d.Header.Headroom))
	}
	return text + "."
}

// failedText counts the trials that did not run by their status, such as "3 oom, 1 crashed".
func (d *digest) failedText() string {
	var order, texts []string
	count := map[string]int{}
	for _, r := range d.results {
		if r.Status == tuner.OK {
			continue
		}
		status := string(r.Status)
		if count[status]++; count[status] == 1 {
			order = append(order, status)
		}
	}
	for _, status := range order {
		texts = append(texts, fmt.Sprintf("%d %s", count[status], status))
	}
	return strings.Join(texts, ", ")
}

// leavesHeadroom says whether a trial ran with a peak that leaves the run's headroom.
func (d *digest) leavesHeadroom(r result) bool {
	return r.ran() && (d.Header.LimitBytes == nil || r.PeakBytes <= *d.Header.LimitBytes-d.Header.Headroom)
}

// sentence is a clause with a capital letter in front, unless it begins with a
// name such as fp32.
func sentence(clause string) string {
	first, _, _ := strings.Cut(clause, " ")
	if first == "" || strings.ContainsAny(first, "0123456789") {
		return clause
	}
	return strings.ToUpper(clause[:1]) + clause[1:]
}
