package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/tuner"
)

// events is a run's harness.Events that has to be closed before anything else is printed.
type events interface {
	harness.Events
	close()
}

// newEvents shows a run's progress on w: one line that is drawn again on a terminal
// that can, unless verbose, else a plain line at the begin and the end of each trial.
func newEvents(w io.Writer, verbose bool) events {
	lines := &plainEvents{w: w, verbose: verbose}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" && !verbose {
		return newBarEvents(lines)
	}
	return lines
}

// plainEvents writes lines.
type plainEvents struct {
	w       io.Writer
	verbose bool
	limitOn string // the counter that the limit holds
}

// Begin writes the first line.
func (p *plainEvents) Begin(h harness.Header) {
	p.limitOn = h.LimitOn
	say(p.w, wrapFor(p.w, firstLine(h)))
}

// TrialBegin names the trial and what is left.
func (p *plainEvents) TrialBegin(number int, r tuner.Request, trials int, seconds float64) {
	say(p.w, trialText(number, r)+"; "+leftText(trials, seconds))
}

// TrialEnd says how the trial ended.
func (p *plainEvents) TrialEnd(t harness.TrialRecord, status tuner.Status) {
	say(p.w, endText(t, status, p.limitOn))
	if p.verbose {
		say(p.w, rawText(t))
	}
}

// Note writes the sentence.
func (p *plainEvents) Note(text string) { say(p.w, wrapFor(p.w, "note: "+text)) }

func (p *plainEvents) close() {}

// counterNames are the counters that a limit can hold, in words.
var counterNames = map[string]string{
	protocol.Resident:  "resident set",
	protocol.Tensors:   "tensor bytes",
	protocol.Allocated: "bytes of PyTorch's allocator",
	protocol.Reserved:  "bytes reserved by PyTorch",
	protocol.Simulated: "simulated memory",
}

// firstLine says what is run: model, engine and why, device and who else uses it, and the
// memory limit with its counter and where it came from.
func firstLine(h harness.Header) string {
	model := h.Model
	if asked := h.Settings.Model; asked != h.Model {
		model = fmt.Sprintf("%s (%s on %s)", h.Model, asked, h.Device)
	}
	engine := "engine " + h.Engine
	if h.EngineReason != "" {
		engine += " (" + h.EngineReason + ")"
	}
	for _, library := range []string{"torch", "python"} {
		if version := h.Versions[library]; version != "" {
			engine += ", " + library + " " + version
		}
	}
	device := h.Device
	if h.DeviceName != "" {
		device += " " + h.DeviceName
	}
	if h.Device == "cpu" {
		device += fmt.Sprintf(", %d cores", h.Environment.Cores)
	}
	if h.DeviceBusy != "" {
		device += ", " + h.DeviceBusy
	}
	limit := "no limit on " + counterNames[h.LimitOn]
	if h.LimitBytes != nil {
		limit = fmt.Sprintf("limit %s %s", harness.FormatBytes(*h.LimitBytes), counterNames[h.LimitOn])
	}
	return "autotune: " + strings.Join([]string{model, engine, device, limit + " (" + h.LimitSource + ")"}, " · ")
}

// trialText names a trial and what it is for.
func trialText(number int, r tuner.Request) string {
	return fmt.Sprintf("trial %d: %s (%s)", number, r.Config, r.Purpose)
}

// leftText is an estimate of what is left.
func leftText(trials int, seconds float64) string {
	text := fmt.Sprintf("about %d left", trials)
	if trials == 1 {
		text = "probably the last"
	}
	if seconds > 0 {
		text += ", about " + shortTime(seconds)
	}
	return text
}

// endText is how a trial ended.
func endText(t harness.TrialRecord, status tuner.Status, counter string) string {
	parts := []string{string(status)}
	if rate := throughput(t); status == tuner.OK && rate > 0 {
		parts = append(parts, rateText(rate))
	}
	if peak := t.Memory.Peak[counter]; peak > 0 {
		parts = append(parts, "peak "+harness.FormatBytes(peak))
	}
	if f := t.Failure; f != nil && status != tuner.OK {
		parts = append(parts, firstWords(f.Text))
	}
	parts = append(parts, shortTime(t.WallSeconds))
	return fmt.Sprintf("trial %d: %s %s", t.Number, t.Config, strings.Join(parts, ", "))
}

// firstWords is the begin of a failure's text, at most 80 characters of its first line;
// the whole text is in the journal.
func firstWords(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if letters := []rune(line); len(letters) > 80 {
		return string(letters[:79]) + "…"
	}
	return line
}

// throughput is that of the trial's median step, in samples/s; 0 where none was timed.
func throughput(t harness.TrialRecord) float64 {
	if len(t.StepSeconds) == 0 {
		return 0
	}
	return tuner.Trial{Config: t.Config, StepSeconds: t.StepSeconds}.Throughput().Median
}

// rateText is a throughput with three digits or more, and no exponent.
func rateText(rate float64) string {
	decimals := 0
	for bound := 100.0; rate < bound && decimals < 6; bound /= 10 {
		decimals++
	}
	return strconv.FormatFloat(rate, 'f', decimals, 64) + " samples/s"
}

// rawText is what --verbose adds: the raw figures of a trial.
func rawText(t harness.TrialRecord) string {
	return fmt.Sprintf("  worker %d, warm-up steps %s, timed steps %s", t.Worker, stepsText(t.WarmupSeconds), stepsText(t.StepSeconds))
}

func stepsText(seconds []float64) string {
	var texts []string
	for _, s := range seconds {
		texts = append(texts, fmt.Sprintf("%.4g", s))
	}
	return "[" + strings.Join(texts, " ") + "] s"
}

// shortTime is a time for people, to the second from ten seconds on.
func shortTime(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
