package tuner

import (
	"fmt"
	"math"
	"slices"
)

// Tuner searches one space for one goal. It is not safe for use by several goroutines at once.
type Tuner struct {
	space  Space
	goal   Goal
	trials []Trial
	known  *history // of the trials; nil: to be made
	asked  *answer  // of Next to the trials; nil: to be made
	// forecasts are what engines said of memory, those that failed among them.
	forecasts map[ledgerKey]Forecast
}

// answer is what Next gives.
type answer struct {
	request Request
	more    bool
}

// New gives a tuner that has seen no trial. It is an error where the space is
// empty, not in order, or holds no configuration that may be recommended, and where
// the goal has an unknown objective or a negative bound.
func New(space Space, goal Goal) (*Tuner, error) {
	if err := space.check(); err != nil {
		return nil, fmt.Errorf("search space: %w", err)
	}
	if err := goal.check(); err != nil {
		return nil, fmt.Errorf("goal of the search: %w", err)
	}
	space.Sets = slices.Clone(space.Sets)
	space.Sizes = slices.Clone(space.Sizes)
	space.Accumulations = slices.Clone(space.Accumulations)
	return &Tuner{space: space, goal: goal, forecasts: map[ledgerKey]Forecast{}}, nil
}

// Observe takes in a finished trial, before the first Next as well (a run that is
// resumed observes its finished trials in the order of their numbers). An
// interrupted trial says nothing.
func (t *Tuner) Observe(trial Trial) {
	t.trials = append(t.trials, trial)
	t.known, t.asked = nil, nil
}

// digest gives what the trials show.
func (t *Tuner) digest() *history {
	if t.known == nil {
		t.known = digest(t.trials, t.goal)
	}
	return t.known
}

// Next gives the trial to run next, or asks for a forecast of memory (the purpose
// Predict, to be answered with Foresee); false: the search has ended and Recommend
// has the answer. Called again without an answer in between it gives the same.
func (t *Tuner) Next() (Request, bool) {
	if t.asked == nil {
		request, more := t.decide()
		if more && t.wantsForecast(request) {
			request = forecastRequest(request)
		}
		t.asked = &answer{request, more}
	}
	return t.asked.request, t.asked.more
}

// decide works out which trial is next.
func (t *Tuner) decide() (Request, bool) {
	if !t.spent() {
		for _, stage := range t.stages() {
			if r, ok := stage(); ok {
				return r, true
			}
		}
	}
	return t.nextSoak()
}

// stages gives the parts of the search in their order. With one set its border
// comes first, since it tells what may be compared. With more, the sets are compared
// first, so that a bounded search spends its trials on the good ones.
func (t *Tuner) stages() []func() (Request, bool) {
	switch {
	case t.goal.Objective == Batch:
		return []func() (Request, bool){t.nextSmallest, t.nextBorder, t.nextLargest, t.nextUntimed}
	case len(t.space.Sets) == 1:
		return []func() (Request, bool){t.nextSmallest, t.nextBorder, t.nextPromising, t.nextLean, t.nextUntimed, t.nextBorder, t.nextFinal}
	default:
		return []func() (Request, bool){t.nextSmallest, t.nextPromising, t.nextLean, t.nextUntimed, t.nextBorder, t.nextFinal}
	}
}

// spent says whether the trials before the soak reached a bound.
func (t *Tuner) spent() bool { return t.bound() != "" }

// bound names the bound that the trials before the soak reached; empty: none.
func (t *Tuner) bound() string {
	trials, seconds := t.searched()
	switch {
	case t.goal.MaxTrials > 0 && trials >= t.goal.MaxTrials:
		return "trials"
	case t.goal.MaxSeconds > 0 && seconds >= t.goal.MaxSeconds:
		return "time"
	}
	return ""
}

// The least that a Fit trial runs, its warm-up included. The optimizer's state is there from
// the second step on, and gradients beside a forward pass from the second pass.
const (
	fitSteps  = 2
	fitPasses = 3
)

// fitRequest asks whether a size fits.
func (t *Tuner) fitRequest(c Config) Request {
	warmup := t.space.warmup()
	passes := (fitPasses + c.Accumulation - 1) / c.Accumulation
	return Request{Config: c, Purpose: Fit, WarmupSteps: warmup, Steps: max(1, fitSteps-warmup, passes-warmup)}
}

// The least that a Time trial measures. Beyond minTimedSteps it goes on to
// goodTimedSteps while those together take goodTimedSeconds or less.
const (
	minTimedSteps    = 3
	minTimedSeconds  = 1.0
	goodTimedSteps   = 20
	goodTimedSeconds = 4.0
)

// timeRequest asks for the throughput of a configuration whose step is thought to take stepSeconds.
func (t *Tuner) timeRequest(c Config, stepSeconds float64) Request {
	steps := min(max(goodTimedSeconds/stepSeconds, minTimedSteps), goodTimedSteps)
	return Request{Config: c, Purpose: Time, WarmupSteps: t.space.warmup(), Steps: int(math.Ceil(steps)), Seconds: minTimedSeconds}
}

// timed says whether a configuration was measured for as long as a Time trial asks.
func (h *history) timed(c Config) bool {
	seconds, sum := secondsOf(h.ran(c)), 0.0
	for _, s := range seconds {
		sum += s
	}
	return len(seconds) >= minTimedSteps && sum >= minTimedSeconds ||
		slices.ContainsFunc(h.ran(c), func(t Trial) bool { return t.Purpose != Fit })
}

// nextSmallest asks for the smallest size of a set whose trials all failed alike: it tells a
// cause that only large sizes have from one that every size has.
func (t *Tuner) nextSmallest() (Request, bool) {
	class, smallest := t.borderClass(), t.space.Sizes[0]
	for _, set := range t.space.Sets {
		alike := t.digest().alike(set)
		if len(alike) > 0 && !slices.Contains(alike, smallest) && t.usable(set) {
			return t.fitRequest(Config{Precision: set.Precision, Knobs: set.Knobs, MicroBatch: smallest, Accumulation: t.space.shortest(class)}), true
		}
	}
	return Request{}, false
}

// usable says whether the set can run, as far as is known: it is supported, and its trials do
// not all fail for other reasons than memory, nor all alike at the smallest size and at one that
// is many times as large.
func (t *Tuner) usable(set Set) bool {
	sizes := t.space.Sizes
	far := min(firstTimes*sizes[0], sizes[len(sizes)-1])
	alike := t.digest().alike(set)
	all := slices.Contains(alike, sizes[0]) && slices.Max(alike) >= far
	return !all && t.digest().usable(set)
}

// sizes are those that are allowed and that batches can have.
func (t *Tuner) sizes() []int {
	batches := t.digest().batches
	if batches == (batchSizes{}) {
		return t.space.Sizes
	}
	return slices.DeleteFunc(slices.Clone(t.space.Sizes), func(size int) bool { return !batches.allows(size) })
}

// nextBorder asks for the next trial that narrows the border of a set.
func (t *Tuner) nextBorder() (Request, bool) {
	class := t.borderClass()
	for _, set := range t.space.Sets {
		if !t.usable(set) {
			continue
		}
		search := t.fitSearch(set, class)
		size, ok := search.next()
		if !ok && t.wantsSafeBorder() {
			search = t.safeSearch(set, class)
			size, ok = search.next()
		}
		if ok {
			return t.fitRequest(Config{Precision: set.Precision, Knobs: set.Knobs, MicroBatch: size, Accumulation: t.space.shortest(class)}), true
		}
	}
	return Request{}, false
}

// wantsSafeBorder says whether the largest size that leaves the margin is wanted beside the border.
func (t *Tuner) wantsSafeBorder() bool {
	return t.goal.Objective == Batch && t.digest().margin > 0 && t.space.GlobalBatch == 0
}

func (t *Tuner) fitSearch(set Set, class int) borderSearch {
	limit := t.goal.LimitBytes
	return borderSearch{t.sizes(), t.digest().fits(set, class), limit, t.foresight(set, class, limit)}
}

func (t *Tuner) safeSearch(set Set, class int) borderSearch {
	limit := t.digest().safeLimit()
	return borderSearch{t.sizes(), t.digest().leaves(set, class), limit, t.foresight(set, class, limit)}
}

// borderClass is the class that borders are sought in: that of the best
// configuration known, and before one is known the one that most candidates have.
func (t *Tuner) borderClass() int {
	if best, ok := t.best(); ok {
		return class(best.Accumulation)
	}
	sizes := t.space.recommendable()
	if t.space.GlobalBatch > 0 && len(sizes) > 1 {
		return class(t.space.steps(sizes[0])[0])
	}
	return class(t.space.steps(sizes[len(sizes)-1])[0])
}

// nextLargest asks whether the largest candidates fit, where the borders do not tell.
func (t *Tuner) nextLargest() (Request, bool) {
	if t.space.GlobalBatch == 0 {
		return Request{}, false
	}
	largest := t.bySize()
	if len(largest) == 0 || t.digest().knownToFit(largest[0]) {
		return Request{}, false
	}
	return t.fitRequest(t.shortOf(largest[0])), true
}

// bySize gives the candidates, the largest micro-batch first and of one size the fewest steps.
func (t *Tuner) bySize() []Config {
	candidates := t.candidates()
	slices.SortStableFunc(candidates, func(a, b Config) int {
		if a.MicroBatch != b.MicroBatch {
			return b.MicroBatch - a.MicroBatch
		}
		return a.Accumulation - b.Accumulation
	})
	return candidates
}
