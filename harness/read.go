package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

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
	opened, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("no run in %s: %s is not there; give a run's folder or its %s", path, file, JournalName)
	case err != nil:
		return nil, usagef("the run in %s cannot be read: %v", path, err)
	}
	defer func() { _ = opened.Close() }()
	run, err := parseJournal(opened)
	if err != nil {
		return nil, usagef("%s: %v", file, err)
	}
	run.Dir = dir
	return run, nil
}

// batchLines is the number of lines that are decoded together, on all cores.
const batchLines = 512

// parseJournal reads a journal's lines.
func parseJournal(file io.Reader) (*Run, error) {
	run, lines := &Run{}, bufio.NewReaderSize(file, 1<<16)
	for number := 1; ; number += batchLines {
		batch, torn, err := readLines(lines)
		if err != nil {
			return nil, err
		}
		for i, r := range decodeLines(batch) {
			if err := run.add(r, number+i == 1); err != nil {
				return nil, fmt.Errorf("line %d: %w", number+i, err)
			}
		}
		run.TornBytes = torn
		if len(batch) < batchLines {
			break
		}
	}
	if run.Header.V == 0 {
		return nil, errors.New("it has no whole first line, and so holds no run: start one in another folder")
	}
	return run, nil
}

// readLines reads up to batchLines lines, fewer at the end of the journal. torn is the length of a last line that is not
// whole, which is left out.
func readLines(from *bufio.Reader) (lines [][]byte, torn int, err error) {
	for len(lines) < batchLines {
		line, err := from.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return lines, len(line), nil
		case err != nil:
			return nil, 0, err
		}
		whole := line[:len(line)-1]
		if _, err := from.Peek(1); errors.Is(err, io.EOF) && !json.Valid(whole) {
			return lines, len(line), nil
		}
		lines = append(lines, whole)
	}
	return lines, 0, nil
}

// decoded is a line with its record, where that is one of a trial; the other kinds are decoded when they are added.
type decoded struct {
	line    []byte
	version int
	kind    string
	trial   *TrialRecord
	err     error
}

// decodeLines decodes lines on all cores, in their order.
func decodeLines(lines [][]byte) []decoded {
	records := make([]decoded, len(lines))
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(lines); i += workers {
				records[i] = decode(lines[i])
			}
		})
	}
	wait.Wait()
	return records
}

// trialBegin is how this version writes a trial, so that most lines need be read once.
var trialBegin = fmt.Appendf(nil, `{"v":%d,"record":"%s",`, JournalVersion, KindTrial)

func decode(line []byte) decoded {
	d := decoded{line: line, version: JournalVersion, kind: KindTrial}
	if !bytes.HasPrefix(line, trialBegin) {
		var head struct {
			V      int    `json:"v"`
			Record string `json:"record"`
		}
		if err := json.Unmarshal(line, &head); err != nil {
			d.err = fmt.Errorf("no record of a run: %w", err)
			return d
		}
		d.version, d.kind = head.V, head.Record
	}
	if d.version == JournalVersion && d.kind == KindTrial {
		d.trial = new(TrialRecord)
		d.err = json.Unmarshal(line, d.trial)
	}
	return d
}

// add adds one line of the journal.
func (r *Run) add(d decoded, first bool) error {
	switch {
	case d.err != nil:
		return d.err
	case d.version > JournalVersion:
		return fmt.Errorf("written by a newer autotune (version %d of the journal; this one reads up to %d): use that autotune", d.version, JournalVersion)
	case d.version != JournalVersion:
		return fmt.Errorf("no record of a run: version %d", d.version)
	case first != (d.kind == KindHeader):
		return fmt.Errorf("a journal has one header, and it is the first record; this is a %q", d.kind)
	}
	if r.Recommendation != nil {
		return fmt.Errorf("a %q after the recommendation, which is a run's last record", d.kind)
	}
	switch d.kind {
	case KindHeader:
		return json.Unmarshal(d.line, &r.Header)
	case KindTrial:
		return r.addTrial(*d.trial)
	case KindForecast:
		return r.addForecast(d.line)
	case KindRecommendation:
		return r.addRecommendation(d.line)
	}
	return fmt.Errorf("unknown record %q", d.kind)
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

// addTrial adds a trial; its number must be above those before it.
func (r *Run) addTrial(t TrialRecord) error {
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
