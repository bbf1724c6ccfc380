//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/tuner"
	"autotune/workloads"
	"autotune/workloads/simulated"
)

// writer writes a journal's records. They are the harness's own, without a sync to the disk after each.
type writer struct {
	file   *os.File
	buffer *bufio.Writer
	lines  *json.Encoder
	header harness.Header
	number int
}

// newWriter begins the journal of a run of the simulated engine.
func newWriter(dir string, s harness.Settings) (*writer, error) {
	s.Model, s.Engine, s.Device, s.TrialTimeout, s.Seed = workloads.Simulated, workloads.Simulated, "", 60, 1
	s.Precision, s.Optimizer = []string{"fp32", "bf16"}, "sgd"
	// The device of seed 5 has a border of about 9,000 samples.
	s.Set = map[string]string{"device": "5", "failures": "0.02"}
	w, err := workloads.Resolve(context.Background(), workloads.Choice{Model: s.Model, Engine: s.Engine, Options: s.Set})
	if err != nil {
		return nil, err
	}
	plan, err := harness.NewPlan(s, w, harness.ReadEnvironment())
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(dir, harness.JournalName))
	if err != nil {
		return nil, err
	}
	buffer := bufio.NewWriter(file)
	j := &writer{file: file, buffer: buffer, lines: json.NewEncoder(buffer), header: plan.Header}
	j.lines.SetEscapeHTML(true)
	j.header.Created = time.Now().UTC()
	return j, j.lines.Encode(j.header)
}

// close ends the journal and gives its size in bytes.
func (j *writer) close() (int64, error) {
	err := j.buffer.Flush()
	info, failed := j.file.Stat()
	if err = errors.Join(err, failed, j.file.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// trial runs one trial in this process and writes its record.
func (j *writer) trial(r tuner.Request, repeat int, seed uint64) (harness.TrialRecord, error) {
	j.number++
	record := harness.TrialRecord{
		V: harness.JournalVersion, Record: harness.KindTrial, Number: j.number, Repeat: repeat, Request: r, Started: j.header.Created, Worker: j.number,
		WarmupSeconds: []float64{}, StepSeconds: []float64{}, Losses: []*float64{}, Samples: []int{},
	}
	done, err := simulated.NewEngine().Run(protocol.Trial{
		Work:   protocol.Work{Model: j.header.Model, Options: j.header.Settings.Set, Precision: r.Precision, Accumulation: r.Accumulation, Seed: seed},
		Number: j.number, MicroBatch: r.MicroBatch, WarmupSteps: r.WarmupSteps, Steps: r.Steps, Seconds: r.Seconds,
	}, func(s protocol.Step) error {
		if s.Warmup {
			record.WarmupSeconds = append(record.WarmupSeconds, s.Seconds)
		} else {
			record.StepSeconds = append(record.StepSeconds, s.Seconds)
		}
		record.Losses, record.Samples = append(record.Losses, s.Loss), append(record.Samples, s.Samples)
		record.WallSeconds += s.Seconds
		return nil
	})
	var failed *protocol.Error
	switch {
	case errors.As(err, &failed):
		record.Failure = &harness.Failure{Type: failed.Type, Phase: failed.Phase, Text: failed.Err.Error()}
	case err != nil:
		return record, err
	default:
		record.StepsRun, record.Memory = done.StepsRun, done.Memory
	}
	return record, j.lines.Encode(record)
}

// writeTune writes a search of so many trials, which ends with a recommendation.
func writeTune(dir string, count int) (int64, error) {
	j, err := newWriter(dir, harness.Settings{Command: harness.CommandTune, Objective: string(tuner.Throughput), GlobalBatch: "any", MemoryLimit: "none"})
	if err != nil {
		return 0, err
	}
	var best harness.TrialRecord
	for i := range count {
		config := tuner.Config{Precision: []string{"fp32", "bf16"}[i%2], MicroBatch: 1 + i*7919%12000, Accumulation: 1 + i/2%2}
		record, err := j.trial(tuner.Request{Config: config, Purpose: tuner.Time, WarmupSteps: 1, Steps: 3 + i%18}, 0, 1)
		if err != nil {
			return 0, err
		}
		if record.Failure == nil && record.MicroBatch > best.MicroBatch {
			best = record
		}
	}
	trial, _ := harness.NewJudging(j.header).Judge(best)
	err = j.lines.Encode(harness.Recommendation{
		V: harness.JournalVersion, Record: harness.KindRecommendation, Model: j.header.Model, Engine: j.header.Engine, Device: j.header.Device,
		Precision: best.Precision, MicroBatch: best.MicroBatch, Accumulation: best.Accumulation, GlobalBatch: best.Config.Samples(),
		Throughput: trial.Throughput(), PeakBytes: trial.PeakBytes, LimitOn: j.header.LimitOn, Trial: best.Number, Trials: count,
		Reason: "the last of many", Objective: j.header.Settings.Objective, Optimizer: "sgd",
		Largest: []tuner.Border{{Set: best.Set(), Accumulation: 1, MicroBatch: best.MicroBatch, RanTrial: best.Number, Bound: "batch range"}},
	})
	if err != nil {
		return 0, err
	}
	return j.close()
}

// writeBench writes a bench of so many trials: six repeats of each configuration.
func writeBench(dir string, count int, seed uint64) (int64, error) {
	j, err := newWriter(dir, harness.Settings{Command: harness.CommandBench, Repeat: harness.DefaultRepeat, Batch: "1..12000", GlobalBatch: "any", MemoryLimit: "none"})
	if err != nil {
		return 0, err
	}
	configs := max(1, count/harness.DefaultRepeat)
	for i := range count {
		c := i % configs
		config := tuner.Config{Precision: []string{"fp32", "bf16"}[c%2], MicroBatch: 1 + c/2%8000, Accumulation: 1 + c/16000}
		if _, err := j.trial(tuner.Request{Config: config, Purpose: tuner.Bench, WarmupSteps: 2, Steps: 5, Fresh: true}, 1+i/configs, seed); err != nil {
			return 0, err
		}
	}
	return j.close()
}
