package harness

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"autotune/harness/protocol"
	"autotune/tuner"
)

// The commands that run trials, in Settings.Command.
const (
	CommandTune  = "tune"
	CommandBench = "bench"
)

// hostCounter is the counter that can be seen from outside a worker.
const hostCounter = protocol.Resident

// Precisions are the number formats that settings may name, whether or not an engine has them.
func Precisions() []string { return []string{"fp64", "fp32", "tf32", "bf16", "fp16"} }

// OwnOptimizer is the optimizer of a workload whose own code makes it: Facts.RecipeOptimizer then, and no setting changes it.
const OwnOptimizer = "own"

// Optimizers are the optimizers that settings may name.
func Optimizers() []string { return []string{"sgd", "momentum", "adam", "adamw"} }

// Objectives are the objectives that settings may name.
func Objectives() []string {
	return []string{string(tuner.Throughput), string(tuner.Batch), string(tuner.Memory)}
}

// resolveChoices fills in and checks what is one of a few words.
func resolveChoices(h *Header, w Workload) error {
	s := &h.Settings
	if len(s.Precision) == 0 {
		s.Precision = []string{"fp32"}
	}
	if s.Optimizer == "" {
		s.Optimizer = w.Facts.RecipeOptimizer
	}
	if s.Objective == "" {
		s.Objective = string(tuner.Throughput)
	}
	for _, p := range s.Precision {
		if !slices.Contains(Precisions(), p) {
			return unknownWord("--precision", p, Precisions())
		}
		if !slices.Contains(w.Precisions, p) {
			return usagef("--precision %s: the engine %s does not support it and it is not run: use %s%s", p, w.Engine, strings.Join(w.Precisions, " or "), w.elsewhere())
		}
	}
	switch own := w.Facts.RecipeOptimizer == OwnOptimizer; {
	case own && s.Optimizer != OwnOptimizer:
		return usagef("--optimizer %s: %s makes its own optimizer: leave --optimizer out, and choose in the file", s.Optimizer, w.Model)
	case !own && !slices.Contains(Optimizers(), s.Optimizer):
		return unknownWord("--optimizer", s.Optimizer, Optimizers())
	}
	if !slices.Contains(Objectives(), s.Objective) {
		return unknownWord("--objective", s.Objective, Objectives())
	}
	return nil
}

// unknownWord is the error for a word that is none of the known ones.
func unknownWord(flag, word string, known []string) error {
	return usagef("%s %s: unknown; it is one of %s", flag, word, strings.Join(known, ", "))
}

// resolveBounds fills in and checks times and counts.
func resolveBounds(h *Header, _ Workload) error {
	s := &h.Settings
	if s.TrialTimeout == 0 {
		s.TrialTimeout = DefaultTrialTimeout
	}
	if s.Command == CommandBench && s.Repeat == 0 {
		s.Repeat = DefaultRepeat
	}
	for _, bound := range []struct {
		flag  string
		value float64
	}{
		{"--trial-timeout", s.TrialTimeout}, {"--max-time", s.MaxTime}, {"--soak", s.Soak},
		{"--max-trials", float64(s.MaxTrials)}, {"--repeat", float64(s.Repeat)},
	} {
		if !(bound.value >= 0) || bound.value > maxSeconds {
			return usagef("%s %s: it must be from 0 to %.0f", bound.flag, strconv.FormatFloat(bound.value, 'f', -1, 64), float64(maxSeconds))
		}
	}
	for _, a := range s.Accumulation {
		if a < 1 || a > tuner.MaxSize {
			return usagef("--accumulation %d: accumulation steps are from 1 to %d", a, tuner.MaxSize)
		}
	}
	s.Accumulation = slices.Compact(slices.Sorted(slices.Values(s.Accumulation)))
	return nil
}

// maxSeconds bounds times so that they can be held as a time.Duration (about 31 years).
const maxSeconds = 1e9

// resolveBatch settles the global batch and then the micro-batches.
func resolveBatch(h *Header, w Workload) error {
	s := &h.Settings
	switch strings.TrimSpace(s.GlobalBatch) {
	case "any":
	case "":
		if s.Command == CommandTune && s.Objective != string(tuner.Batch) {
			h.GlobalBatch = w.Facts.RecipeBatch
		}
	default:
		n, err := strconv.Atoi(strings.TrimSpace(s.GlobalBatch))
		if err != nil || n < 1 || n > tuner.MaxSize {
			return usagef("--global-batch %s: it is a number of samples from 1 to %d, such as %d, or any", s.GlobalBatch, tuner.MaxSize, max(w.Facts.RecipeBatch, 1))
		}
		h.GlobalBatch = n
	}
	if n := len(s.Accumulation); s.Command == CommandTune && h.GlobalBatch == 0 && n > maxAccumulations {
		return usagef("--accumulation names %d values, and without a global batch each is tried with every size: name %d at most, or give --global-batch", n, maxAccumulations)
	}
	if strings.TrimSpace(s.Batch) != "" {
		return nil
	}
	switch {
	case s.Command == CommandBench:
		return usagef("bench measures the micro-batches it is given: add --batch, such as --batch 8,16,32")
	case h.GlobalBatch == 0 || s.Objective == string(tuner.Batch):
		s.Batch = fmt.Sprintf("1..%d", AnyBatchMax)
	case h.GlobalBatch > tuner.MaxSizes:
		return usagef("--global-batch %d: its micro-batches 1..%d are more than the %d that can be searched: name some with --batch, such as --batch 1..%d:x2",
			h.GlobalBatch, h.GlobalBatch, tuner.MaxSizes, h.GlobalBatch)
	default:
		s.Batch = fmt.Sprintf("1..%d", h.GlobalBatch)
	}
	return nil
}

// maxAccumulations is the most accumulation steps that are searched with every size.
const maxAccumulations = 64

// resolveLimit settles the memory limit and says where it came from.
func resolveLimit(h *Header, w Workload) error {
	available, have := h.Environment.AvailableBytes, "available"
	if w.DeviceBytes != nil {
		available, have = w.DeviceBytes, "that "+w.Device+" has free"
	}
	text := h.Settings.MemoryLimit
	if strings.TrimSpace(text) == "" {
		bytes, source := defaultLimit(available)
		if w.DeviceBytes != nil {
			bytes, source = *w.DeviceBytes, "default: what "+w.Device+" has free"
		}
		h.LimitBytes, h.LimitSource = &bytes, source
		return nil
	}
	limit, err := ParseLimit(text)
	switch {
	case err != nil:
		return usagef("--memory-limit: %v", err)
	case limit.None:
		if w.LimitOnNone != "" {
			h.LimitOn = w.LimitOnNone
		}
		h.LimitSource = "--memory-limit none: only a real failure ends the search"
		return nil
	case limit.Percent > 0 && available == nil:
		return usagef("--memory-limit %s: this system does not say how much memory is available: give a size such as 2GiB", text)
	case limit.Percent > 0:
		bytes := limit.Of(*available)
		h.LimitBytes, h.LimitSource = &bytes, fmt.Sprintf("--memory-limit: %s of the %s %s", text, FormatBytes(*available), have)
	default:
		h.LimitBytes, h.LimitSource = &limit.Bytes, "--memory-limit"
	}
	return nil
}

// defaultLimit is the smaller of DefaultLimit and half of what is available, with the reason.
func defaultLimit(available *int64) (int64, string) {
	switch {
	case available == nil:
		return DefaultLimit, "default; the system does not say how much is available"
	case *available/2 < DefaultLimit:
		return *available / 2, fmt.Sprintf("default: half of the %s available", FormatBytes(*available))
	}
	return DefaultLimit, fmt.Sprintf("default, with %s available", FormatBytes(*available))
}

// resolveHeadroom settles the margin below the limit.
func resolveHeadroom(h *Header, _ Workload) error {
	text := strings.TrimSpace(h.Settings.Headroom)
	if text == "" {
		return nil
	}
	if bytes, err := ParseBytes(text); err == nil && h.LimitBytes != nil && bytes >= *h.LimitBytes {
		return usagef("--headroom %s is not less than the memory limit of %s: nothing would be left", text, FormatBytes(*h.LimitBytes))
	}
	headroom, err := ParseLimit(text)
	switch {
	case text == "0" || text == "0%":
		return nil
	case err != nil:
		return usagef("--headroom: %v", err)
	case headroom.None:
		return nil
	case h.LimitBytes == nil:
		return usagef("--headroom %s needs a memory limit that it is a part of: give --memory-limit a size, or leave --headroom out", text)
	case headroom.Percent == 100:
		return usagef("--headroom %s leaves nothing of the memory limit: give less", text)
	}
	h.Headroom = headroom.Of(*h.LimitBytes)
	return nil
}
