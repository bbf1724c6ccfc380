package reports

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"autotune/harness"
)

// The units of bench.txt. benchstat scales a unit with the word bytes by powers of 1024, the others by
// powers of 1000.
const (
	stepUnit       = "sec/op" // an op is an optimizer step
	throughputUnit = "samples/sec"
	peakBytesUnit  = "peak-bytes"
)

// BenchText is bench.txt: every repeat of a bench that ran, a line each, in the Go benchmark format
// (https://golang.org/design/14313-benchmark-format), and comments, which its readers skip, on
// those that did not and on what makes figures doubtful. Values are in base units; an op is an optimizer
// step. The repeats of a configuration follow each other in the order run.
func (r Report) BenchText() ([]byte, error) { return r.digest.benchText() }

func (d *digest) benchText() ([]byte, error) {
	var out bytes.Buffer
	w := benchfmt.NewWriter(&out)
	records := []benchfmt.Record{better(stepUnit, "lower"), better(throughputUnit, "higher"), better(peakBytesUnit, "lower")}
	for _, record := range records {
		if err := w.Write(record); err != nil {
			return nil, err
		}
	}
	for _, c := range d.configs {
		for _, note := range append(c.failures(), c.warnings()...) {
			fmt.Fprintf(&out, "# %s: %s\n", c.Config, oneLine(note))
		}
	}
	shared, knobs := fileConfig(d.Header), d.knobNames()
	for _, c := range d.configs {
		name := d.benchName(c, knobs)
		for _, r := range c.Results {
			if !r.ran() {
				continue
			}
			if err := w.Write(&benchfmt.Result{Config: shared, Name: name, Iters: len(r.StepSeconds), Values: benchValues(r)}); err != nil {
				return nil, err
			}
		}
	}
	return out.Bytes(), nil
}

// better says in which direction a unit improves.
func better(unit, direction string) *benchfmt.UnitMetadata {
	return &benchfmt.UnitMetadata{
		UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: direction,
	}
}

// benchValues are what a repeat measured: the median of its steps, and its peak where it is known.
func benchValues(r result) []benchfmt.Value {
	values := []benchfmt.Value{{Value: medianOf(r.StepSeconds), Unit: stepUnit}, {Value: r.Throughput.Median, Unit: throughputUnit}}
	if r.PeakBytes > 0 {
		values = append(values, benchfmt.Value{Value: float64(r.PeakBytes), Unit: peakBytesUnit})
	}
	return values
}

// benchName is a configuration's name without the word Benchmark, such as
// "Train/model=mlp/precision=fp32/batch=8/accumulation=4/width=16-2": the model's options and the
// knobs, those that any configuration has, come behind what every name has, and the number of cores
// comes last. What a name cannot have or would be cut by is written as in a URL's path, such as %20
// for a space.
func (d *digest) benchName(c configuration, knobs []string) benchfmt.Name {
	name := "Train"
	add := func(key, value string) {
		name += "/" + strings.ReplaceAll(url.PathEscape(key), "=", "%3D") + "=" + url.PathEscape(value)
	}
	add("model", d.Header.Model)
	add("precision", c.Precision)
	add("batch", fmt.Sprint(c.MicroBatch))
	add("accumulation", fmt.Sprint(c.Accumulation))
	options := d.Header.Settings.Set
	for _, key := range slices.Sorted(maps.Keys(options)) {
		add(key, options[key])
	}
	chosen := knobChoices(c.Knobs)
	for _, knob := range knobs {
		value, on := chosen[knob]
		if !on {
			value = "off"
		}
		add(knob, value)
	}
	return benchfmt.Name(fmt.Sprintf("%s-%d", name, max(1, d.Header.Environment.Cores)))
}

// knobNames are the knobs that any configuration has, sorted.
func (d *digest) knobNames() []string {
	texts, names := map[string]bool{}, map[string]bool{}
	for _, c := range d.configs {
		texts[c.Knobs] = true
	}
	for text := range texts {
		for name := range knobChoices(text) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// knobChoices are the choices in a text as tuner.Config.Knobs has it, by name.
func knobChoices(knobs string) map[string]string {
	choices := map[string]string{}
	for pair := range strings.SplitSeq(knobs, ",") {
		if name, value, valued := strings.Cut(pair, "="); valued {
			choices[name] = value
		}
	}
	return choices
}

// fileConfig is what all repeats have in common. benchstat compares in one table only what agrees in all
// of it, so nothing is here that differs from run to run by chance, such as the time or the memory available.
func fileConfig(h harness.Header) []benchfmt.Config {
	var list []benchfmt.Config
	add := func(key, value string) {
		if value = oneLine(value); value != "" {
			list = append(list, benchfmt.Config{Key: configKey(key), Value: []byte(value), File: true})
		}
	}
	cpu := ""
	if h.Environment.CPUModel != nil {
		cpu = *h.Environment.CPUModel
	}
	add("goos", h.Environment.OS)
	add("goarch", h.Environment.Arch)
	add("cpu", cpu)
	add("engine", h.Engine)
	add("device", h.Device)
	if h.DeviceName != cpu {
		add("device-name", h.DeviceName)
	}
	add("optimizer", h.Settings.Optimizer)
	add("input", h.Settings.Input)
	if h.Settings.Classes > 0 {
		add("classes", fmt.Sprint(h.Settings.Classes))
	}
	add("peak-of", h.LimitOn)
	for _, name := range slices.Sorted(maps.Keys(h.Versions)) {
		version, _, _ := strings.Cut(h.Versions[name], " ") // without the place where it is
		add(name, version)
	}
	return list
}

// configKey is a name as a key of the format can be: no space, capital or colon, a letter first.
func configKey(name string) string {
	key := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsUpper(r) || r == ':' {
			return '-'
		}
		return r
	}, strings.ToLower(name))
	if first := []rune(key + " ")[0]; !unicode.IsLower(first) {
		return "x-" + key
	}
	return key
}

// oneLine is a text with every run of white space as one space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
