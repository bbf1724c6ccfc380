package reports

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"autotune/harness"
)

// Difference is one thing in which two runs differ.
type Difference struct {
	What     string `json:"what"`
	Baseline string `json:"baseline"`
	Run      string `json:"run"`
}

// String is the difference as a line, such as "cores: 2, was 4".
func (d Difference) String() string { return fmt.Sprintf("%s: %s, was %s", d.What, d.Run, d.Baseline) }

// DifferentError says that two runs cannot be compared, since they ran on other
// hardware or with other settings.
type DifferentError struct {
	Differences []Difference // one or more
}

// Error lists what differs, a line each.
func (e *DifferentError) Error() string {
	lines := []string{"the runs differ in more than the code, so that a change would mean nothing; --allow-different compares them all the same:"}
	for _, d := range e.Differences {
		lines = append(lines, "  "+d.String())
	}
	return strings.Join(lines, "\n")
}

// ExitCode is 2: a usage error.
func (e *DifferentError) ExitCode() int { return 2 }

// alike is how far two sizes of memory may lie apart, as a fraction of the
// larger, and still count as the same machine or limit: what a kernel update or
// a percentage of a changing amount moves.
const alike = 0.05

// differences lists the hardware and the settings in which the runs differ. What
// was searched (sizes, precisions, bounds) and the seed are left out, since
// configurations are matched one by one.
func differences(baseline, run *harness.Run) []Difference {
	a, b := baseline.Header, run.Header
	var list []Difference
	differ := func(what, was, is string) {
		if was != is {
			list = append(list, Difference{What: what, Baseline: was, Run: is})
		}
	}
	nearly := func(what string, was, is *int64, absent string) {
		if !near(was, is) {
			list = append(list, Difference{What: what, Baseline: bytesOr(was, absent), Run: bytesOr(is, absent)})
		}
	}
	differ("model", a.Model, b.Model)
	list = append(list, mapDifferences("model option ", a.Settings.Set, b.Settings.Set, "the default")...)
	differ("shape of a sample", orDefault(a.Settings.Input), orDefault(b.Settings.Input))
	differ("classes", orDefault(whole(int64(a.Settings.Classes))), orDefault(whole(int64(b.Settings.Classes))))
	differ("engine", a.Engine, b.Engine)
	differ("device", a.Device, b.Device)
	differ("device name", a.DeviceName, b.DeviceName)
	differ("optimizer", a.Settings.Optimizer, b.Settings.Optimizer)
	differ("counter of the limit", a.LimitOn, b.LimitOn)
	nearly("memory limit", a.LimitBytes, b.LimitBytes, "none")
	was, is := a.Environment, b.Environment
	differ("operating system", was.OS+"/"+was.Arch, is.OS+"/"+is.Arch)
	differ("CPU", optional(was.CPUModel), optional(is.CPUModel))
	differ("cores", strconv.Itoa(was.Cores), strconv.Itoa(is.Cores))
	differ("CPUs of the container", optionalNumber(was.CgroupCPUs), optionalNumber(is.CgroupCPUs))
	nearly("memory", was.MemoryBytes, is.MemoryBytes, unknown)
	return list
}

// mapDifferences lists the values in which two maps differ, under their keys behind a
// prefix; absent stands for a value that is not there.
func mapDifferences(prefix string, was, is map[string]string, absent string) []Difference {
	all := map[string]string{}
	maps.Copy(all, was)
	maps.Copy(all, is)
	var list []Difference
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if was[key] != is[key] {
			list = append(list, Difference{What: prefix + key, Baseline: or(was[key], absent), Run: or(is[key], absent)})
		}
	}
	return list
}

// versionDifferences lists the software in which two runs differ, the libraries that train left out: what a gate is
// meant to compare.
func versionDifferences(baseline, run *harness.Run) []Difference {
	a, b := baseline.Header, run.Header
	was, is := map[string]string{}, map[string]string{}
	maps.Copy(was, a.Environment.Versions)
	maps.Copy(is, b.Environment.Versions)
	was["autotune"], is["autotune"] = a.Version, b.Version
	was["commit"], is["commit"] = optional(a.Environment.Commit), optional(b.Environment.Commit)
	was["Go"], is["Go"] = a.Environment.GoVersion, b.Environment.GoVersion
	was["kernel"], is["kernel"] = optional(a.Environment.Kernel), optional(b.Environment.Kernel)
	return mapDifferences("", was, is, unknown)
}

// near says whether two sizes are alike, or both unknown.
func near(a, b *int64) bool {
	if a == nil || b == nil {
		return a == b
	}
	return math.Abs(float64(*a-*b)) <= alike*math.Max(float64(*a), float64(*b))
}

// or is a text, or what its absence means.
func or(s, absent string) string {
	if s == "" {
		return absent
	}
	return s
}

func orDefault(s string) string { return or(s, "the default") }

// unknown is shown for what the system did not tell.
const unknown = "unknown"

func optional(s *string) string {
	if s == nil {
		return unknown
	}
	return *s
}

func optionalNumber(v *float64) string {
	if v == nil {
		return "no limit"
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// bytesOr is a size, or what its absence means.
func bytesOr(n *int64, absent string) string {
	if n == nil {
		return absent
	}
	return harness.FormatBytes(*n)
}
