package pytorch_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"

	"autotune/harness/protocol"
	"autotune/workloads/gorgonia"
	"autotune/workloads/model"
	"autotune/workloads/pytorch"
)

// Both engines train the same models from the same weights and samples: their losses over ten optimizer steps and
// the one after them are equal, up to rounding.
func TestLossesAreThoseOfGorgonia(t *testing.T) {
	trials := equalityTrials(t)
	want := make([][]float64, len(trials))
	for i, trial := range trials {
		want[i] = gorgoniaLosses(t, trial)
	}
	for _, variable := range []string{oldTorch, newTorch} {
		t.Run(variable, func(t *testing.T) {
			worker := startWorker(t, interpreter(t, variable))
			for i, trial := range trials {
				compareLosses(t, trial, pytorchLosses(t, worker, trial), want[i])
			}
		})
	}
}

// equalityTrials are small trials of each model in both precisions, with two optimizers and accumulation 1 and 2.
func equalityTrials(t *testing.T) []protocol.Trial {
	t.Helper()
	var trials []protocol.Trial
	for _, m := range []struct {
		name    string
		options map[string]string
	}{
		{"mlp", map[string]string{"width": "64"}},
		{"lenet", nil},
		{"resnet20", map[string]string{"image": "8"}},
		{"gpt", map[string]string{"layers": "2", "width": "32", "heads": "4", "tokens": "16"}},
	} {
		graph, err := model.Build(m.name, m.options)
		if err != nil {
			t.Fatal(err)
		}
		layers, err := pytorch.GraphJSON(graph)
		if err != nil {
			t.Fatal(err)
		}
		for _, precision := range []string{"fp64", "fp32"} {
			for _, optimizer := range []string{"momentum", "adam"} {
				for accumulation := 1; accumulation <= 2; accumulation++ {
					trials = append(trials, protocol.Trial{
						Work: protocol.Work{Model: m.name, Options: m.options, Graph: layers, Optimizer: optimizer, Seed: 1,
							Precision: precision, Accumulation: accumulation},
						Number: len(trials) + 1, MicroBatch: 4, WarmupSteps: 1, Steps: 10,
					})
				}
			}
		}
	}
	return trials
}

// compareLosses holds the losses of a trial against those wanted, by the difference over the loss. In fp64 all have
// to be equal within 1e-9. In fp32 the first within 1e-5, and all within 1e-4 where the model has no batch
// normalisation: with it, rounding alone moves them more.
func compareLosses(t *testing.T, trial protocol.Trial, got, want []float64) {
	t.Helper()
	name := fmt.Sprintf("%s %s %s, accumulation %d", trial.Model, trial.Precision, trial.Optimizer, trial.Accumulation)
	if len(got) != len(want) {
		t.Errorf("%s: %d losses, the other engine has %d", name, len(got), len(want))
		return
	}
	first := math.Abs(got[0]-want[0]) / math.Abs(want[0])
	var most float64
	for i := range want {
		most = max(most, math.Abs(got[i]-want[i])/math.Abs(want[i]))
	}
	t.Logf("%s: the first losses differ by %.2g, all by %.2g at most", name, first, most)
	firstWithin, within := 1e-9, 1e-9
	if trial.Precision == "fp32" {
		firstWithin, within = 1e-5, 1e-4
		if trial.Model == "resnet20" {
			within = math.Inf(1)
		}
	}
	if !(first <= firstWithin) || !(most <= within) {
		t.Errorf("%s: the losses are %v, the other engine's %v", name, got, want)
	}
}

func gorgoniaLosses(t *testing.T, trial protocol.Trial) []float64 {
	t.Helper()
	var losses []float64
	_, err := gorgonia.NewEngine().Run(trial, func(s protocol.Step) error {
		losses = append(losses, *s.Loss)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return losses
}

// startWorker starts one on the CPU, with one thread, and waits until it is ready.
func startWorker(t *testing.T, python string) *protocol.Conn {
	t.Helper()
	worker, err := pytorch.Unpack(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	theirRequests, requests, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, "-B", worker, "serve", "--device", "cpu")
	command.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	command.Stderr = os.Stderr
	command.ExtraFiles = []*os.File{theirRequests, theirAnswers}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for _, file := range command.ExtraFiles {
		_ = file.Close()
	}
	t.Cleanup(func() {
		_ = requests.Close() // the worker ends by that
		_ = command.Wait()
		_ = answers.Close()
	})
	conn := protocol.NewConn(answers, requests)
	receive[*protocol.Ready](t, conn)
	return conn
}

// pytorchLosses runs a trial on a worker.
func pytorchLosses(t *testing.T, worker *protocol.Conn, trial protocol.Trial) []float64 {
	t.Helper()
	if err := worker.Send(&trial); err != nil {
		t.Fatal(err)
	}
	var losses []float64
	for range trial.WarmupSteps + trial.Steps {
		step := receive[*protocol.Step](t, worker)
		if step.Loss == nil {
			t.Fatalf("%s: the loss of step %d is not finite", trial.Model, len(losses)+1)
		}
		losses = append(losses, *step.Loss)
	}
	receive[*protocol.Done](t, worker)
	return losses
}

// receive gives the worker's next message, which must be of one kind.
func receive[M protocol.Message](t *testing.T, worker *protocol.Conn) M {
	t.Helper()
	message, err := worker.Receive()
	if err != nil {
		t.Fatal(err)
	}
	wanted, ok := message.(M)
	if !ok {
		t.Fatalf("the worker says %s: %+v", protocol.Name(message), message)
	}
	return wanted
}
