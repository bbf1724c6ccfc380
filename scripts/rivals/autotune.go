package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"autotune/harness"
	"autotune/tuner"
)

// runAutotune is our own search for the largest size, without a limit that it knows of.
func runAutotune(t tools, s subject) (find, error) {
	dir := filepath.Join(t.dir, "run-"+s.name)
	args := []string{
		"tune", "--engine", "pytorch", "--python", t.python, "--device", "cpu", "--precision", "fp32", "--optimizer", "momentum",
		"--global-batch", "any", "--objective", "batch", "--memory-limit", "none", "--json", "--out", dir,
	}
	begun := time.Now()
	out, err := t.limited(t.binary, append(args, s.flags...)...).Output()
	inAll := time.Since(begun).Seconds()
	if err != nil {
		return find{}, err
	}
	var r harness.Recommendation
	if err := json.Unmarshal(out, &r); err != nil {
		return find{}, err
	}
	f := find{Size: r.Largest[0].MicroBatch, BothSides: r.Largest[0].FailedTrial != nil, InAll: inAll}
	journal, err := os.ReadFile(filepath.Join(dir, harness.JournalName))
	if err != nil {
		return f, err
	}
	workers, err := f.addJournal(journal)
	if err != nil {
		return f, err
	}
	start, err := t.workerStart(dir)
	f.Seconds -= float64(workers) * start
	return f, err
}

// addJournal adds up the trials of a run's journal, the soak apart, and gives the
// number of workers that they ran on. Their starts are within the seconds.
func (f *find) addJournal(journal []byte) (workers int, err error) {
	for line := range bytes.Lines(journal) {
		var r struct {
			Record      string           `json:"record"`
			Purpose     tuner.Purpose    `json:"purpose"`
			Worker      int              `json:"worker"`
			WallSeconds float64          `json:"wall_seconds"`
			Failure     *harness.Failure `json:"failure"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return 0, err
		}
		switch {
		case r.Record == harness.KindTrial && r.Purpose == tuner.Soak:
			f.Soak += r.WallSeconds
			continue
		case r.Record == harness.KindTrial:
			f.Trials++
			if r.Failure != nil {
				f.Failures++
			}
		case r.Record != harness.KindForecast:
			continue
		}
		f.Seconds += r.WallSeconds
		workers = max(workers, r.Worker)
	}
	return workers, nil
}

// workerStart is the median time in seconds, of three, from the start of the worker of a run to its ready.
// The journal has it within the time of the first request only, and the rivals' seconds begin when they are ready.
func (t tools) workerStart(run string) (float64, error) {
	var times []float64
	for range 3 {
		seconds, err := startOnce(t.limited(t.python, "-u", filepath.Join(run, "worker", "autotune_worker"), "serve", "--device", "cpu", "--import", "torchvision"))
		if err != nil {
			return 0, fmt.Errorf("the worker alone: %w", err)
		}
		times = append(times, seconds)
	}
	slices.Sort(times)
	return times[1], nil
}

// startOnce is the time in seconds that the worker takes to its first line, which is ready.
func startOnce(c *exec.Cmd) (float64, error) {
	requests, toWorker, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer requests.Close()
	fromWorker, answers, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer fromWorker.Close()
	c.ExtraFiles = []*os.File{requests, answers}
	begun := time.Now()
	err = c.Start()
	answers.Close()
	if err != nil {
		return 0, err
	}
	var ready struct {
		Op string `json:"op"`
	}
	err = json.NewDecoder(fromWorker).Decode(&ready)
	seconds := time.Since(begun).Seconds()
	toWorker.Close() // it ends with its requests
	_ = c.Wait()
	if err == nil && ready.Op != "ready" {
		err = fmt.Errorf("its first message is %q", ready.Op)
	}
	return seconds, err
}
