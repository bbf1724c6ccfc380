// Losses trains the built-in models with the engines gorgonia and pytorch, from the same weights on the same samples, and
// prints the losses of both side by side as tables of Markdown: float64, SGD with momentum and Adam, ten optimizer steps of two
// passes and the step after them. What is trained is small: it takes about 40 s of processor time.
//
//	go run ./scripts/losses --python "$(scripts/torch-venv)"
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"

	"autotune/harness/protocol"
	"autotune/workloads/gorgonia"
	"autotune/workloads/model"
	"autotune/workloads/pytorch"
)

// subject is a model with what is trained of it.
type subject struct {
	name    string
	options map[string]string
}

func subjects() []subject {
	return []subject{
		{"mlp", map[string]string{"width": "64"}},
		{"lenet", nil},
		{"resnet20", map[string]string{"image": "8"}},
		{"gpt", map[string]string{"layers": "2", "width": "32", "heads": "4", "tokens": "16"}},
	}
}

func main() {
	python := flag.String("python", "python3", "`FILE`, an interpreter that has torch")
	flag.Parse()
	if err := run(*python); err != nil {
		fmt.Fprintln(os.Stderr, "losses:", err)
		os.Exit(1)
	}
}

func run(python string) error {
	w, err := start(python)
	if err != nil {
		return err
	}
	defer w.end()
	fmt.Printf("float64, micro-batch 4, accumulation 2, seed 1; torch %s, %s\n", w.ready.Versions["torch"], gorgoniaVersion())
	for _, s := range subjects() {
		if err := w.table(s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func gorgoniaVersion() string {
	const name = "gorgonia.org/gorgonia"
	return strings.TrimSpace("gorgonia " + gorgonia.NewEngine().Ready().Versions[name])
}

// table trains one model and prints its table.
func (w *worker) table(s subject) error {
	var columns [][]float64
	for _, optimizer := range []string{"momentum", "adam"} {
		trial, err := s.trial(optimizer)
		if err != nil {
			return err
		}
		ours, err := gorgoniaLosses(trial)
		if err != nil {
			return err
		}
		theirs, err := w.losses(trial)
		if err != nil {
			return err
		}
		columns = append(columns, ours, theirs)
	}
	fmt.Printf("\n%s\n\n", s)
	fmt.Println("| step | momentum, gorgonia | momentum, pytorch | difference | adam, gorgonia | adam, pytorch | difference |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
	for i := range columns[0] {
		fmt.Printf("| %d ", i+1)
		for c := 0; c < len(columns); c += 2 {
			a, b := columns[c][i], columns[c+1][i]
			fmt.Printf("| %.15f | %.15f | %.0e ", a, b, math.Abs(a-b))
		}
		fmt.Println("|")
	}
	return nil
}

// String is the model with its options.
func (s subject) String() string {
	var options []string
	for name, value := range s.options {
		options = append(options, name+"="+value)
	}
	slices.Sort(options)
	return strings.TrimSuffix("**"+s.name+"** "+strings.Join(options, ", "), " ")
}

func (s subject) trial(optimizer string) (protocol.Trial, error) {
	graph, err := model.Build(s.name, s.options)
	if err != nil {
		return protocol.Trial{}, err
	}
	layers, err := pytorch.GraphJSON(graph)
	return protocol.Trial{
		Work:   protocol.Work{Model: s.name, Options: s.options, Graph: layers, Optimizer: optimizer, Seed: 1, Precision: "fp64", Accumulation: 2},
		Number: 1, MicroBatch: 4, WarmupSteps: 1, Steps: 10,
	}, err
}

func gorgoniaLosses(trial protocol.Trial) ([]float64, error) {
	var losses []float64
	_, err := gorgonia.NewEngine().Run(trial, func(s protocol.Step) error {
		losses = append(losses, lossOf(&s))
		return nil
	})
	return losses, err
}

// lossOf is a step's loss, NaN where it is not finite.
func lossOf(s *protocol.Step) float64 {
	if s.Loss == nil {
		return math.NaN()
	}
	return *s.Loss
}

// worker is a worker of the engine pytorch on the CPU.
type worker struct {
	*protocol.Conn
	ready  *protocol.Ready
	folder string
	pipes  []*os.File
	child  *exec.Cmd
}

// start starts one and waits until it is ready.
func start(python string) (*worker, error) {
	folder, err := os.MkdirTemp("", "autotune-losses-*")
	if err != nil {
		return nil, err
	}
	program, err := pytorch.Unpack(folder)
	if err != nil {
		return nil, err
	}
	theirRequests, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	child := exec.Command(python, program, "serve", "--device", "cpu")
	child.Stderr, child.ExtraFiles = os.Stderr, []*os.File{theirRequests, theirAnswers}
	if err := child.Start(); err != nil {
		return nil, err
	}
	_, _ = theirRequests.Close(), theirAnswers.Close()
	w := &worker{Conn: protocol.NewConn(answers, requests), folder: folder, pipes: []*os.File{requests, answers}, child: child}
	w.ready, err = receive[*protocol.Ready](w.Conn)
	return w, err
}

// losses runs a trial.
func (w *worker) losses(trial protocol.Trial) ([]float64, error) {
	if err := w.Send(&trial); err != nil {
		return nil, err
	}
	var losses []float64
	for range trial.WarmupSteps + trial.Steps {
		step, err := receive[*protocol.Step](w.Conn)
		if err != nil {
			return nil, err
		}
		losses = append(losses, lossOf(step))
	}
	_, err := receive[*protocol.Done](w.Conn)
	return losses, err
}

// receive gives the worker's next message, which must be of one kind.
func receive[M protocol.Message](conn *protocol.Conn) (M, error) {
	message, err := conn.Receive()
	wanted, ok := message.(M)
	switch {
	case err != nil:
		return wanted, fmt.Errorf("the worker of pytorch: %w", err)
	case !ok:
		return wanted, fmt.Errorf("the worker of pytorch says %s: %+v", protocol.Name(message), message)
	}
	return wanted, nil
}

// end ends the worker, which does so where its requests do.
func (w *worker) end() {
	for _, pipe := range w.pipes {
		_ = pipe.Close()
	}
	_ = w.child.Wait()
	_ = os.RemoveAll(w.folder)
}
