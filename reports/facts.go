package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"autotune/harness"
)

// runFacts are what a run ran on: engine, device, limit and environment.
func runFacts(run *harness.Run) []finding {
	h, e := run.Header, run.Header.Environment
	list := []finding{
		{"Model", modelText(h)},
		{"Engine", withClause(h.Engine, h.EngineReason)},
		{"Device", withClause(h.Device, h.DeviceName)},
		{"Memory limit", limitText(h)},
		{"Counter", withClause(h.LimitOn, counterOf(h.LimitOn).Says)},
		{"Begun", h.Created.UTC().Format(time.RFC3339)},
		{"System", fmt.Sprintf("%s/%s, kernel %s", e.OS, e.Arch, optional(e.Kernel))},
		{"CPU", fmt.Sprintf("%s, %d cores", optional(e.CPUModel), e.Cores)},
		{"Memory", fmt.Sprintf("%s, %s available at the start", bytesOr(e.MemoryBytes, unknown), bytesOr(e.AvailableBytes, unknown))},
		{"Container", fmt.Sprintf("memory limit %s, CPUs %s", bytesOr(e.CgroupLimitBytes, "none"), optionalNumber(e.CgroupCPUs))},
		{"autotune", withClause(h.Version, optional(e.Commit))},
		{"Go", e.GoVersion},
	}
	if h.DeviceBusy != "" {
		list = append(list, finding{"Device in use", h.DeviceBusy})
	}
	versions := maps.Clone(h.Versions)
	if versions == nil {
		versions = map[string]string{}
	}
	maps.Copy(versions, e.Versions)
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		list = append(list, finding{name, versions[name]})
	}
	return list
}

// modelText is the model with what is known of its size.
func modelText(h harness.Header) string {
	var known []string
	if n := h.Facts.Parameters; n > 0 {
		known = append(known, fmt.Sprintf("%d parameters", n))
	}
	if n := h.Facts.FLOPsPerSample; n > 0 {
		known = append(known, flopsText(n)+" a sample forward")
	}
	if shape := h.Facts.InputShape; len(shape) > 0 {
		known = append(known, fmt.Sprintf("input %v", shape))
	}
	if len(known) == 0 {
		return h.Model
	}
	return h.Model + ": " + strings.Join(known, ", ")
}

// versionsText names the libraries that train, such as "measured with torch 2.9.1".
func versionsText(h harness.Header) string {
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(h.Versions)) {
		version, _, _ := strings.Cut(h.Versions[name], " ") // without the place where it is
		versions = append(versions, name+" "+version)
	}
	return "measured with " + strings.Join(versions, ", ")
}

// limitText is the memory limit with where it came from.
func limitText(h harness.Header) string {
	if h.LimitBytes == nil {
		return withClause("none", h.LimitSource)
	}
	return withClause(harness.FormatBytes(*h.LimitBytes), h.LimitSource)
}

func withClause(text, clause string) string {
	if clause == "" || clause == text {
		return text
	}
	return text + " (" + clause + ")"
}

// flopsText is a number of floating-point operations, such as "40.80 MFLOP".
func flopsText(n int64) string {
	u := unitFor([]unit{{"FLOP", 1}, {"kFLOP", 1e3}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}}, float64(n))
	return u.text(float64(n)) + " " + u.name
}

// runSettings are the choices that start the same run again, under the names of
// the flags; those that were left to their default are out.
func runSettings(run *harness.Run) []finding {
	s := run.Header.Settings
	var list []finding
	add := func(name, text string, set bool) {
		if set {
			list = append(list, finding{"--" + name, text})
		}
	}
	add("model", s.Model, true)
	for _, key := range slices.Sorted(maps.Keys(s.Set)) {
		add("set", key+"="+s.Set[key], true)
	}
	add("input", s.Input, s.Input != "")
	add("classes", fmt.Sprint(s.Classes), s.Classes > 0)
	add("engine", s.Engine, s.Engine != "")
	add("python", s.Python, s.Python != "")
	add("device", s.Device, s.Device != "")
	add("precision", strings.Join(s.Precision, ","), len(s.Precision) > 0)
	add("knobs", strings.Join(s.Knobs, ","), len(s.Knobs) > 0)
	add("batch", s.Batch, s.Batch != "")
	add("accumulation", strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Accumulation), " ", ","), "[]"), len(s.Accumulation) > 0)
	add("global-batch", s.GlobalBatch, s.GlobalBatch != "")
	add("optimizer", s.Optimizer, s.Optimizer != "")
	add("memory-limit", s.MemoryLimit, s.MemoryLimit != "")
	add("headroom", s.Headroom, s.Headroom != "")
	add("objective", s.Objective, s.Objective != "")
	add("max-trials", fmt.Sprint(s.MaxTrials), s.MaxTrials > 0)
	add("max-time", fmt.Sprintf("%gs", s.MaxTime), s.MaxTime > 0)
	add("trial-timeout", fmt.Sprintf("%gs", s.TrialTimeout), s.TrialTimeout > 0)
	add("soak", fmt.Sprintf("%gs", s.Soak), !isBench(run))
	add("repeat", fmt.Sprint(s.Repeat), s.Repeat > 0)
	add("seed", fmt.Sprint(s.Seed), true)
	return list
}
