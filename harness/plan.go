package harness

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"autotune/harness/protocol"
	"autotune/tuner"
)

// Defaults of the settings, and what the steps of a kind of trial are.
const (
	// DefaultTrialTimeout is what one trial may take, in seconds.
	DefaultTrialTimeout = 120.0
	// DefaultTargetError is how precisely a search measures its finalists: half the 95% interval of their
	// median, as a part of it. It is as much as two throughputs may differ and count as equal.
	DefaultTargetError = 0.02
	// DefaultRepeat is the number of fresh workers that bench runs a configuration in: the least
	// for which the distribution-free 95% interval of a median is finite.
	DefaultRepeat = 6
	// DefaultLimit is the most that the default memory limit is, in bytes.
	DefaultLimit = 2 << 30
	// AnyBatchMax is the largest micro-batch searched where no global batch bounds it. CUDA grids
	// end at 65,535, which larger batches run into.
	AnyBatchMax = 65536
	// SoakSteps is the least number of steps of the soak; its least time is a setting.
	SoakSteps = 5
)

// leastLimit is a memory limit, in bytes, below which a figure without a unit is thought to lack one.
const leastLimit = 1 << 20

// isDigits says whether the text is a plain number.
func isDigits(text string) bool {
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil
}

// Plan is a run that is ready to start: settings resolved on this machine.
type Plan struct {
	Header  Header
	Space   tuner.Space    // tune: what is searched
	Goal    tuner.Goal     // tune: what for
	Configs []tuner.Config // bench: what is measured, in order
	Notes   []string       // sentences that the user should read before it starts
}

// NewPlan makes the settings into a plan: it fills in the defaults, resolves
// sizes and limits on this environment, and checks that something is left to
// run. An error is a *UsageError that names the setting and the next thing to try.
func NewPlan(s Settings, w Workload, env Environment) (Plan, error) {
	h := Header{
		V: JournalVersion, Record: KindHeader, Version: version(), Settings: s,
		Model: w.Model, Facts: w.Facts, Engine: w.Engine, EngineReason: w.EngineReason,
		Device: w.Device, DeviceName: w.DeviceName, DeviceBusy: w.DeviceBusy, Versions: w.Versions,
		LimitOn: w.LimitOn, WarmupSteps: w.WarmupSteps, VirtualClock: w.VirtualClock, Predicts: w.Predicts && s.Command == CommandTune, Environment: env,
	}
	for _, resolve := range []func(*Header, Workload) error{
		resolveChoices, resolveKnobs, resolveBounds, resolveBatch, resolveLimit, resolveHeadroom,
	} {
		if err := resolve(&h, w); err != nil {
			return Plan{}, err
		}
	}
	p, err := planOf(h)
	p.Notes = append(p.Notes, workloadNotes(h, w)...)
	return p, err
}

// workloadNotes are the sentences on what the workload is today, which may differ when a run is resumed.
func workloadNotes(h Header, w Workload) []string {
	notes := slices.Clone(w.Notes)
	if w.DeviceBytes != nil && h.LimitBytes != nil && *h.LimitBytes > *w.DeviceBytes {
		notes = append(notes, fmt.Sprintf("The memory limit of %s is more than the %s that %s has free: the device itself ends what does not fit.",
			FormatBytes(*h.LimitBytes), FormatBytes(*w.DeviceBytes), h.Device))
	}
	return notes
}

// planOf derives the plan from a resolved header alone, so that a resumed run
// has the plan that it began with.
func planOf(h Header) (Plan, error) {
	p := Plan{Header: h}
	if c := h.Settings.Command; c != CommandTune && c != CommandBench {
		return Plan{}, usagef("unknown command %q: it is %s or %s", c, CommandTune, CommandBench)
	}
	sizes, err := tuner.ParseSizes(h.Settings.Batch)
	if err != nil {
		return Plan{}, usagef("--batch: %v", err)
	}
	if h.Settings.Command == CommandBench {
		p.Configs, err = benchConfigs(h, sizes)
		return p, err
	}
	p.Space = tuner.Space{
		Sets: setsOf(h.Settings), Sizes: sizes, Accumulations: h.Settings.Accumulation, GlobalBatch: h.GlobalBatch,
		WarmupSteps: h.WarmupSteps, Predicts: h.Predicts,
	}
	p.Goal = goalOf(h)
	if h.GlobalBatch > 0 && !slices.ContainsFunc(sizes, func(b int) bool { return accumulationFor(h, b) > 0 }) {
		return Plan{}, noDivisor(h)
	}
	if _, err := tuner.New(p.Space, p.Goal); err != nil {
		return Plan{}, &UsageError{err.Error()}
	}
	if written := h.Settings.MemoryLimit; h.LimitBytes != nil && *h.LimitBytes < leastLimit && isDigits(written) {
		p.Notes = append(p.Notes, fmt.Sprintf("The memory limit %s has no unit and is read as bytes: did you mean %sMiB?", written, written))
	}
	if h.LimitBytes != nil && h.Environment.AvailableBytes != nil && *h.LimitBytes > *h.Environment.AvailableBytes && ofHost(h.LimitOn) {
		p.Notes = append(p.Notes, fmt.Sprintf("The memory limit of %s is more than the %s that are available: a trial near it may be killed by the system.",
			FormatBytes(*h.LimitBytes), FormatBytes(*h.Environment.AvailableBytes)))
	}
	return p, nil
}

// ofHost says whether a counter is of the host's memory.
func ofHost(counter string) bool { return counter == hostCounter || counter == protocol.Tensors }

// goalOf is what the search is for.
func goalOf(h Header) tuner.Goal {
	g := tuner.Goal{
		Objective:     tuner.Objective(h.Settings.Objective),
		HeadroomBytes: h.Headroom,
		TargetError:   h.Settings.TargetError,
		MaxTrials:     h.Settings.MaxTrials,
		MaxSeconds:    h.Settings.MaxTime,
	}
	if h.LimitBytes != nil {
		g.LimitBytes = *h.LimitBytes
	}
	if h.Settings.Soak > 0 {
		g.SoakSteps, g.SoakSeconds = SoakSteps, h.Settings.Soak
	}
	return g
}

// accumulationFor is the accumulation with which micro-batch b makes the global batch; 0: none that is allowed.
func accumulationFor(h Header, b int) int {
	if h.GlobalBatch%b != 0 {
		return 0
	}
	steps := h.GlobalBatch / b
	if allowed := h.Settings.Accumulation; len(allowed) > 0 && !slices.Contains(allowed, steps) {
		return 0
	}
	return steps
}

// noDivisor is the error for a global batch that nothing allowed makes.
func noDivisor(h Header) error {
	with := ""
	if len(h.Settings.Accumulation) > 0 {
		with = fmt.Sprintf(" with --accumulation %s", joinInts(h.Settings.Accumulation))
	}
	return usagef("--global-batch %d: no micro-batch of --batch %s makes it%s: allow a micro-batch that divides %d, or choose another global batch (any: whatever comes)",
		h.GlobalBatch, h.Settings.Batch, with, h.GlobalBatch)
}

// benchConfigs is every precision and choice of knobs with every size and accumulation, or, where a
// global batch is given, with the accumulation that makes it.
func benchConfigs(h Header, sizes []int) ([]tuner.Config, error) {
	var configs []tuner.Config
	for _, set := range setsOf(h.Settings) {
		for _, b := range sizes {
			for _, a := range benchAccumulations(h, b) {
				configs = append(configs, tuner.Config{Precision: set.Precision, Knobs: set.Knobs, MicroBatch: b, Accumulation: a})
			}
		}
	}
	if len(configs) == 0 {
		return nil, noDivisor(h)
	}
	return configs, nil
}

// benchAccumulations are the accumulations that bench measures with micro-batch b.
func benchAccumulations(h Header, b int) []int {
	if h.GlobalBatch > 0 {
		if a := accumulationFor(h, b); a > 0 {
			return []int{a}
		}
		return nil
	}
	if len(h.Settings.Accumulation) > 0 {
		return h.Settings.Accumulation
	}
	return []int{1}
}

// version is that of the main module, as the build information has it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// joinInts writes numbers as a flag has them.
func joinInts(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ",")
}
