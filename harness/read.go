package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"autotune/harness/protocol"
)

// JournalName is the journal's name in a run's folder.
const JournalName = "run.jsonl"

// ReadRun reads the run in path: a run's folder or its run.jsonl. A last line
// that was written in part is left out and counted in TornBytes. The error is a
// *UsageError where there is no run, where a newer version wrote it, or where
// the journal is damaged; it names the line.
func ReadRun(path string) (*Run, error) {
	dir, file := path, filepath.Join(path, JournalName)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		dir, file = filepath.Dir(path), path
	}
	content, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("no run in %s: %s is not there; give a run's folder or its %s", path, file, JournalName)
	case err != nil:
		return nil, usagef("the run in %s cannot be read: %v", path, err)
	}
	run, err := parseJournal(content)
	if err != nil {
		return nil, usagef("%s: %v", file, err)
	}
	run.Dir = dir
	return run, nil
}

// parseJournal reads a journal's lines.
func parseJournal(content []byte) (*Run, error) {
	run := &Run{}
	for number := 1; len(content) > 0; number++ {
		line, rest, whole := bytes.Cut(content, []byte("\n"))
		if !whole || len(rest) == 0 && !json.Valid(line) {
			run.TornBytes = len(content)
			break
		}
		if err := run.add(line, number == 1); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		content = rest
	}
	if run.Header.V == 0 {
		return nil, errors.New("it has no whole first line, and so holds no run: start one in another folder")
	}
	return run, nil
}

// add reads one line of the journal.
func (r *Run) add(line []byte, first bool) error {
	var head struct {
		V      int    `json:"v"`
		Record string `json:"record"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return fmt.Errorf("no record of a run: %w", err)
	}
	switch {
	case head.V > JournalVersion:
		return fmt.Errorf("written by a newer autotune (version %d of the journal; this one reads up to %d): use that autotune", head.V, JournalVersion)
	case head.V != JournalVersion:
		return fmt.Errorf("no record of a run: version %d", head.V)
	case first != (head.Record == KindHeader):
		return fmt.Errorf("a journal has one header, and it is the first record; this is a %q", head.Record)
	}
	if r.Recommendation != nil {
		return fmt.Errorf("a %q after the recommendation, which is a run's last record", head.Record)
	}
	switch head.Record {
	case KindHeader:
		return json.Unmarshal(line, &r.Header)
	case KindTrial:
		return r.addTrial(line)
	case KindForecast:
		return r.addForecast(line)
	case KindRecommendation:
		return r.addRecommendation(line)
	}
	return fmt.Errorf("unknown record %q", head.Record)
}

// addRecommendation reads the recommendation; the trial that it rests on must be among those before it.
func (r *Run) addRecommendation(line []byte) error {
	r.Recommendation = new(Recommendation)
	if err := json.Unmarshal(line, r.Recommendation); err != nil {
		return err
	}
	number := r.Recommendation.Trial
	if !slices.ContainsFunc(r.Trials, func(t TrialRecord) bool { return t.Number == number }) {
		return fmt.Errorf("the recommendation rests on trial %d, which the journal does not have", number)
	}
	return nil
}

// addForecast reads a forecast.
func (r *Run) addForecast(line []byte) error {
	var f ForecastRecord
	if err := json.Unmarshal(line, &f); err != nil {
		return err
	}
	if f.Accumulation < 1 {
		return fmt.Errorf("a forecast has %d accumulation steps; they are 1 or more", f.Accumulation)
	}
	r.Forecasts = append(r.Forecasts, f)
	return nil
}

// addTrial reads a trial; its number must be above those before it.
func (r *Run) addTrial(line []byte) error {
	var t TrialRecord
	if err := json.Unmarshal(line, &t); err != nil {
		return err
	}
	if t.Number <= r.lastNumber() {
		return fmt.Errorf("trial %d comes after trial %d", t.Number, r.lastNumber())
	}
	if t.MicroBatch < 1 || t.Accumulation < 1 {
		return fmt.Errorf("trial %d has micro-batch %d and %d accumulation steps; both are 1 or more", t.Number, t.MicroBatch, t.Accumulation)
	}
	if name := negative(t.Memory); name != "" {
		return fmt.Errorf("trial %d has a negative %s memory", t.Number, name)
	}
	r.Trials = append(r.Trials, t)
	return nil
}

// negative names a counter that is below 0; empty: none is.
func negative(m protocol.Memory) string {
	for _, counters := range []map[string]int64{m.Baseline, m.Peak, m.After} {
		for name, bytes := range counters {
			if bytes < 0 {
				return name
			}
		}
	}
	return ""
}

// lastNumber is the number of the last trial; 0: there is none.
func (r *Run) lastNumber() int {
	if len(r.Trials) == 0 {
		return 0
	}
	return r.Trials[len(r.Trials)-1].Number
}
