package main

import (
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"autotune/harness"
	"autotune/tuner"
)

// redraw is how often the line is drawn again: seldom, so that it does not
// disturb what is measured.
const redraw = 500 * time.Millisecond

// barParts is the length of the bar. It is never reached while the run goes on:
// a bar that is full is removed.
const barParts = 1000

// barEvents shows one line on a terminal that is drawn again: the running
// trial, the time left and a bar. Notes are written above it.
type barEvents struct {
	lines    *plainEvents
	progress *mpb.Progress
	bar      *mpb.Bar
	done     float64 // seconds of the trials that ended

	mu   sync.Mutex
	text string    // the running trial
	left float64   // seconds when it began; 0: not known
	from time.Time // when it began
}

func newBarEvents(lines *plainEvents) *barEvents { return &barEvents{lines: lines} }

// Begin writes the first line and draws the bar below it.
func (b *barEvents) Begin(h harness.Header) {
	b.lines.Begin(h)
	b.progress = mpb.New(mpb.WithOutput(b.lines.w), mpb.WithWidth(20), mpb.WithRefreshRate(redraw))
	b.bar = b.progress.AddBar(barParts, mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.line() })))
}

// TrialBegin puts the trial into the line.
func (b *barEvents) TrialBegin(number int, r tuner.Request, trials int, seconds float64) {
	b.mu.Lock()
	b.text, b.left, b.from = trialText(number, r)+"; "+leftText(trials, 0), seconds, time.Now()
	b.mu.Unlock()
	b.bar.SetCurrent(int64(b.done / (b.done + seconds + 1) * barParts))
}

// TrialEnd moves the bar with the next trial.
func (b *barEvents) TrialEnd(t harness.TrialRecord, _ tuner.Status) { b.done += t.WallSeconds }

// Note writes the sentence above the line.
func (b *barEvents) Note(text string) {
	if b.progress == nil {
		b.lines.Note(text)
		return
	}
	say(b.progress, wrapFor(b.lines.w, "note: "+text))
}

func (b *barEvents) close() {
	if b.progress == nil {
		return
	}
	b.bar.Abort(true)
	b.progress.Wait()
}

// line is what stands behind the bar.
func (b *barEvents) line() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if left := b.left - time.Since(b.from).Seconds(); b.left > 0 && left > 1 {
		return b.text + ", about " + time.Duration(left*float64(time.Second)).Round(time.Second).String()
	}
	return b.text
}
