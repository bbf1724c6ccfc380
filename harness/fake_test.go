//go:build unix

package harness_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"autotune/harness"
	"autotune/harness/protocol"

	"go.uber.org/goleak"
)

// The test binary is its own worker, and its own harness to be killed.
const (
	roleVariable = "AUTOTUNE_TEST_ROLE" // worker, harness
	startScript  = "AUTOTUNE_TEST_START"
	notesFile    = "AUTOTUNE_TEST_NOTES" // where a worker leaves the ids of processes
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "worker":
		os.Exit(runWorker())
	case "harness":
		os.Exit(runHarness())
	}
	goleak.VerifyTestMain(m)
}

// MB is the unit of the fake engine's memory.
const MB = 1 << 20

// fake is an engine whose trials follow a script: the model's option named as
// the micro-batch says how that size behaves. Where there is none it trains: a
// step takes a millisecond a sample, and the peak is 20 MB and 1 MB a sample.
type fake struct{}

func (fake) Ready() protocol.Ready {
	return protocol.Ready{Engine: "fake", Device: "cpu", Precisions: []string{"fp32", "fp64"}, Counters: []string{protocol.Resident}}
}

func (fake) Run(t protocol.Trial, report func(protocol.Step) error) (protocol.Done, error) {
	how, value, _ := strings.Cut(t.Options[strconv.Itoa(t.MicroBatch)], " ")
	steps, samples, loss := t.WarmupSteps+t.Steps, t.MicroBatch*t.Accumulation, 1.0
	memory := protocol.Memory{
		Baseline: map[string]int64{protocol.Resident: 10 * MB},
		Peak:     map[string]int64{protocol.Resident: int64(20+t.MicroBatch) * MB},
		Reset:    t.Options["reset"] != "no",
	}
	if leak, err := strconv.Atoi(t.Options["leak"]); err == nil { // megabytes a trial
		memory.Baseline[protocol.Resident] += int64(leak*t.Number) * MB
	}
	if keep, err := strconv.Atoi(t.Options["keep"]); err == nil { // megabytes after each trial
		memory.Baseline = map[string]int64{protocol.Resident: 0}
		memory.After = map[string]int64{protocol.Resident: int64(keep) * MB}
	}
	fmt.Printf("trial %d prints\n", t.Number)
	leaveNote(os.Getpid())
	switch how {
	case "hang":
		select {}
	case "panic":
		panic(value)
	case "fail":
		return protocol.Done{}, &protocol.Error{Type: "FakeError", Phase: "forward", Err: errors.New(value)}
	case "fail-as": // a type and a text
		kind, text, _ := strings.Cut(value, " ")
		return protocol.Done{Memory: memory}, &protocol.Error{Type: kind, Phase: "build", Err: errors.New(text)}
	case "fail-over":
		memory.Peak[protocol.Resident] = 1000 * MB
		return protocol.Done{Memory: memory}, errors.New("failed when it was over the limit")
	case "nan":
		loss = math.NaN()
	case "samples":
		samples--
	case "steps":
		steps--
	case "no-counter":
		memory.Peak = map[string]int64{"other": 1}
	default:
		misbehave(how, value)
	}
	done := protocol.Done{StepsRun: t.WarmupSteps + t.Steps, Memory: memory}
	if how == "miscount" {
		done.StepsRun++
	}
	if how == "steps" {
		done.StepsRun--
	}
	if how == "twice" {
		defer func() { fmt.Fprintln(os.NewFile(4, "answers"), `{"v":1,"op":"done","steps_run":3,"memory":{}}`) }()
	}
	per := max(float64(t.MicroBatch)/1000, t.Seconds/float64(t.Steps)) // as if it had run as long as was asked
	for i := range steps {
		step := protocol.Step{Warmup: i < t.WarmupSteps, Seconds: per, Loss: &loss, Samples: samples}
		if how == "device" {
			device := per / 2
			step.DeviceSeconds, done.SkippedSteps = &device, 1
		}
		if how == "backwards" {
			step.Seconds = -1
		}
		if how == "late-warmup" {
			step.Warmup = i >= t.WarmupSteps
		}
		if err := report(step); err != nil {
			return done, err
		}
		if how == "hang-later" {
			select {}
		}
	}
	return done, nil
}

// Predict is exact, or what the model's option named predict says.
func (fake) Predict(p protocol.Predict) (protocol.Predicted, error) {
	how, value, _ := strings.Cut(p.Options["predict"], " ")
	fmt.Println("a prediction prints")
	factor := 1.0
	switch how {
	case "hang":
		select {}
	case "fail":
		return protocol.Predicted{}, errors.New(value)
	case "off":
		factor, _ = strconv.ParseFloat(value, 64)
	default:
		misbehave(how, value)
	}
	return protocol.Predicted{
		Counter: protocol.Resident, Lines: []protocol.Line{{Fixed: factor * 20 * MB, PerSample: factor * MB}}, Seconds: 0.5,
	}, nil
}

// misbehave does what no engine should do to its process.
func misbehave(how, value string) {
	switch how {
	case "exit":
		code, _ := strconv.Atoi(value)
		fmt.Fprintln(os.Stderr, "the last words")
		os.Exit(code)
	case "crash-text":
		fmt.Fprintln(os.Stderr, value)
		os.Exit(2)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "terminate":
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
		select {}
	case "say": // a raw line
		answers := os.NewFile(4, "answers")
		_, _ = fmt.Fprintln(answers, value)
		select {}
	case "long-line":
		answers := os.NewFile(4, "answers")
		_, _ = fmt.Fprintln(answers, strings.Repeat("x", 2*protocol.MaxLine))
		select {}
	case "close":
		_ = os.NewFile(4, "answers").Close()
		select {}
	case "print-much":
		for range 3000 {
			fmt.Println(strings.Repeat("y", 4096))
		}
	case "score":
		score, _ := os.ReadFile("/proc/self/oom_score_adj")
		fmt.Printf("score %s\n", score)
	case "grow":
		grow(400) // enough to be stopped, and no danger to the machine
	case "grow-child":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), startScript+"=grow")
		if err := child.Run(); err != nil {
			panic(err)
		}
	case "daemon": // dies, and leaves a process of another session that holds its pipes
		child := exec.Command("sleep", "1000")
		child.SysProcAttr, child.ExtraFiles = &syscall.SysProcAttr{Setsid: true}, []*os.File{os.NewFile(3, "requests"), os.NewFile(4, "answers")}
		if err := child.Start(); err != nil {
			panic(err)
		}
		leaveNote(child.Process.Pid)
		os.Exit(7)
	case "child": // leaves a process of its group behind
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			panic(err)
		}
		leaveNote(child.Process.Pid)
		if value == "die" {
			os.Exit(7)
		}
	}
}

// grow takes and keeps so many megabytes, a few at a time.
func grow(megabytes int) {
	var held [][]byte
	for range megabytes / 8 {
		block := make([]byte, 8*MB)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		held = append(held, block)
		time.Sleep(2 * time.Millisecond)
	}
	time.Sleep(time.Hour)
	fmt.Println(len(held))
}

// leaveNote writes a process id where the test finds it.
func leaveNote(pid int) {
	if path := os.Getenv(notesFile); path != "" {
		if f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err == nil {
			_, _ = fmt.Fprintln(f, pid)
			_ = f.Close()
		}
	}
}

// runWorker is the worker's main.
func runWorker() int {
	how, value, _ := strings.Cut(os.Getenv(startScript), " ")
	leaveNote(os.Getpid())
	if how == "hang" {
		select {}
	}
	misbehave(how, value)
	if err := protocol.Serve(os.NewFile(3, "requests"), os.NewFile(4, "answers"), fake{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// workload is the fake engine, with a script as "32=nan" pairs.
func workload(script ...string) harness.Workload {
	options := map[string]string{}
	for _, s := range script {
		name, value, _ := strings.Cut(s, "=")
		options[name] = value
	}
	return harness.Workload{
		Command: []string{os.Args[0]}, Env: []string{roleVariable + "=worker", "GORACE=atexit_sleep_ms=0"},
		Model: "fake-model", Options: options, Engine: "fake", Device: "cpu", DeviceName: "Fake CPU",
		Precisions: []string{"fp32", "fp64"}, LimitOn: protocol.Resident, VirtualClock: true,
		Facts: harness.ModelFacts{Parameters: 1000, RecipeBatch: 32, RecipeOptimizer: "momentum", SampleUnit: "image", InputShape: []int{4}},
	}
}

// environment is a machine of 8 GiB.
func environment() harness.Environment {
	available := int64(8 << 30)
	return harness.Environment{AvailableBytes: &available, Cores: 2}
}

// plan resolves settings on that machine, or ends the test.
func plan(t *testing.T, s harness.Settings, w harness.Workload) harness.Plan {
	t.Helper()
	p, err := harness.NewPlan(s, w, environment())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// benchSettings measure some sizes once each.
func benchSettings(batch string) harness.Settings {
	return harness.Settings{Command: harness.CommandBench, Batch: batch, Repeat: 1, MemoryLimit: "100MiB", TrialTimeout: 60}
}

// tuneSettings search for the largest size that fits.
func tuneSettings() harness.Settings {
	return harness.Settings{Command: harness.CommandTune, Objective: "batch", MemoryLimit: "100MiB", TrialTimeout: 60, Soak: 0.01}
}
