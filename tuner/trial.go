package tuner

// Status says how a trial ended.
type Status string

// The statuses of a trial.
const (
	OK          Status = "ok"          // every step that was asked for ran, within the limit
	OOM         Status = "oom"         // out of memory, or the measured peak passed the limit
	Timeout     Status = "timeout"     // a deadline passed
	Crashed     Status = "crashed"     // the worker failed for another reason than memory
	Diverged    Status = "diverged"    // the loss is not finite; it did fit
	Unsupported Status = "unsupported" // the engine or device cannot do this at all
	Invalid     Status = "invalid"     // fewer steps than asked, another batch size, or a broken protocol
	Interrupted Status = "interrupted" // stopped by the user; it is run again on resume
)

// Purpose says what a trial is run for.
type Purpose string

// The purposes of a trial.
const (
	Fit   Purpose = "fit"   // to see whether the size fits: at least two optimizer steps and three passes
	Time  Purpose = "time"  // to measure throughput
	Final Purpose = "final" // to measure throughput again, in turn with others that may be as fast
	Soak  Purpose = "soak"  // the winner again, longer, in a fresh process
	Bench Purpose = "bench" // one repeat of a given configuration, in a fresh process
	// Predict is no trial: the engine is to say without running what memory the set needs
	// (Tuner.Foresee takes the answer). The micro-batch of such a request is 0, its
	// accumulation 1, or 2 for any from 2 on.
	Predict Purpose = "predict"
)

// Request asks for one trial.
type Request struct {
	Config
	Purpose Purpose `json:"purpose"`
	// WarmupSteps is the number of optimizer steps before the clock counts, 1 or more.
	WarmupSteps int `json:"warmup_steps"`
	// Steps is the least number of timed optimizer steps, 1 or more.
	Steps int `json:"steps"`
	// Seconds is the least time of the timed steps together, in seconds; 0: Steps decides alone.
	Seconds float64 `json:"seconds"`
	// Fresh asks for a worker process that has run nothing before.
	Fresh bool `json:"fresh"`
}

// Trial is what the tuner is told of one finished trial, and all it is told.
type Trial struct {
	// Number is the trial's number in the journal, from 1.
	Number int
	Config
	Purpose Purpose
	Status  Status
	// PeakBytes is the peak of the counter that the limit holds, in bytes; 0: not known.
	PeakBytes int64
	// StepSeconds are the times of the timed optimizer steps, in seconds, in order.
	StepSeconds []float64
	// WallSeconds is the time that the trial took in all, in seconds.
	WallSeconds float64
	// Came is the number of samples that came in a micro-batch of an Invalid trial, where it was
	// not the one that was asked for; 0: not known. A batch that is smaller than asked is all
	// that the data have: no larger one is tried. A larger one is a loader's own number: no smaller one is.
	Came int
	// GrowthBytes is by how much the memory of a long run would grow beyond the peak, in bytes, as a Soak
	// showed it; 0: it does not grow. A recommendation leaves room for it.
	GrowthBytes int64
	// Warnings are sentences on what makes the trial's figures doubtful; they go with its recommendation.
	Warnings []string
	// Cause is a text that failures of one cause have in common, whatever the size; empty: not known.
	Cause string
}
