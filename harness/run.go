package harness

import "autotune/tuner"

// Options say which run to make or to resume.
type Options struct {
	Dir      string   // the run's folder; made where it is missing
	Plan     Plan     // what to run; Resume takes it from the journal instead
	Workload Workload // how its worker starts
	Events   Events   // who is told of the progress; nil: nobody
}

// Events is told what happens while a run goes on, from one goroutine.
type Events interface {
	// Begin is called once, before the first trial.
	Begin(Header)
	// TrialBegin is called before a trial with estimates of what is left, that trial
	// included: trials, and seconds (0: not known).
	TrialBegin(number int, request tuner.Request, trialsLeft int, secondsLeft float64)
	// TrialEnd is called when a trial is in the journal.
	TrialEnd(TrialRecord, tuner.Status)
	// Note is a sentence that the user should read.
	Note(string)
}

// nobody is told nothing.
type nobody struct{}

func (nobody) Begin(Header)                                {}
func (nobody) TrialBegin(int, tuner.Request, int, float64) {}
func (nobody) TrialEnd(TrialRecord, tuner.Status)          {}
func (nobody) Note(string)                                 {}

// Run is what a journal holds.
type Run struct {
	Dir            string
	Header         Header
	Trials         []TrialRecord
	Forecasts      []ForecastRecord // of memory, in the order in which they were asked for
	Recommendation *Recommendation  // nil: none was made
	// TornBytes is the length of a last line that was cut off in the middle; 0: the journal is whole.
	TornBytes int
}

// Judged is what each trial means, in the journal's order.
func (r *Run) Judged() []tuner.Trial { return NewJudging(r.Header).all(r.Trials) }

// WallSeconds is the time that all trials took together, in seconds.
func (r *Run) WallSeconds() float64 {
	var sum float64
	for _, t := range r.Trials {
		sum += t.WallSeconds
	}
	return sum
}
