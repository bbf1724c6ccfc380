package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"autotune/harness/failure"
	"autotune/harness/protocol"
	"autotune/tuner"
)

// phasePredict is the phase of a prediction that failed.
const phasePredict = "predict"

// Predict asks a fresh worker of the workload for the memory of a
// configuration without running it: one line or more over the micro-batch, and the peaks of
// some sizes by what holds them. The configuration's own micro-batch is not looked at.
// Its errors carry an exit code.
func Predict(ctx context.Context, w Workload, s Settings, c tuner.Config, sizes []int) (*protocol.Predicted, error) {
	switch {
	case !canRunTrials:
		return nil, errNoPipes
	case !w.Predicts:
		return nil, usagef("the engine %s cannot predict memory: %s", w.Engine, w.Unpredicted)
	}
	folder, err := os.MkdirTemp("", "autotune-predict-")
	if err != nil {
		return nil, exitf(ErrFailed, "no temporary folder for a worker's files: %w", err)
	}
	defer os.RemoveAll(folder)
	return predictIn(ctx, folder, w, &protocol.Predict{Work: workOf(w, s, c), MicroBatches: sizes})
}

// workOf is what is trained with the configuration, whatever its size.
func workOf(w Workload, s Settings, c tuner.Config) protocol.Work {
	return protocol.Work{
		Model: w.Model, Options: w.Options, Optimizer: s.Optimizer, Seed: s.Seed,
		Precision: c.Precision, Accumulation: c.Accumulation, Knobs: c.Knobs,
		Graph: w.Graph, InputShape: w.InputShape, Classes: w.Classes,
	}
}

// predictIn runs one prediction on a worker whose files are in the folder.
func predictIn(ctx context.Context, folder string, w Workload, request *protocol.Predict) (*protocol.Predicted, error) {
	w, err := w.prepared(folder)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "predict.log"))
	if err != nil {
		return nil, exitf(ErrFailed, "the worker's log cannot be written: %w", err)
	}
	worker, err := startWorker(w, 1, log)
	if err != nil {
		_ = log.Close()
		return nil, exitf(ErrNoEngine, "the worker of the engine %s cannot be started: %w", w.Engine, err)
	}
	defer worker.close()
	a := &attempt{worker: worker, record: &TrialRecord{}, allowed: DefaultTrialTimeout}
	if failed := a.awaitReady(ctx, w.startTimeout()); failed != nil {
		return nil, predictError(w, failed)
	}
	if !slices.Contains(worker.ready.Precisions, request.Precision) {
		return nil, usagef("the worker runs the precisions %v, not %s", worker.ready.Precisions, request.Precision)
	}
	predicted, failed := a.predict(ctx, request)
	if failed != nil {
		return nil, predictError(w, failed)
	}
	return predicted, nil
}

// predictError is the error of a prediction that failed, with the user's own line first and then the whole text.
func predictError(w Workload, f *Failure) error {
	switch {
	case f.Type == FailureInterrupted:
		return exitf(ErrInterrupted, "stopped")
	case f.Phase == "start":
		return exitf(ErrNoEngine, "the worker of the engine %s did not become ready: %s", w.Engine, f.Text)
	case f.Type == failure.TypeEngineUnsupported || f.Type == failure.TypeUsage:
		return usagef("%s", f.Text)
	}
	_, traceback, _ := strings.Cut(f.Text, "\n")
	return exitf(ErrFailed, "memory could not be predicted: %s", strings.TrimRight(f.told()+"\n"+traceback, "\n"))
}

// predict asks the worker for a prediction and waits for it, a.allowed seconds at most. The
// failure is how it failed; the worker goes on where its spent is empty.
func (a *attempt) predict(ctx context.Context, request *protocol.Predict) (*protocol.Predicted, *Failure) {
	if err := a.worker.send(request); err != nil && !a.worker.exitsWithin(stopPatience) {
		return nil, predicting(a.stop(FailureProtocol, fmt.Sprintf("the worker does not read its requests: %v", err)))
	}
	late := fmt.Sprintf("the prediction had not ended after %.4g s", a.allowed)
	in, failed := a.hear(ctx, seconds(a.allowed), late, "stopped while memory was predicted")
	if failed != nil {
		return nil, predicting(failed)
	}
	return a.predicted(in, len(request.MicroBatches))
}

// predicted handles the answer to a request with so many micro-batches.
func (a *attempt) predicted(in protocol.Incoming, sizes int) (*protocol.Predicted, *Failure) {
	switch m := in.Message.(type) {
	case *protocol.Predicted:
		if len(m.Lines) == 0 || len(m.Splits) != sizes {
			return nil, predicting(a.stop(FailureProtocol, fmt.Sprintf("the worker predicted %d lines and %d sizes, not one line or more and %d sizes",
				len(m.Lines), len(m.Splits), sizes)))
		}
		return m, nil
	case *protocol.Failed:
		return nil, &Failure{Type: m.Type, Phase: m.Phase, Text: m.Text}
	case nil:
		return nil, predicting(a.silence(in.Err))
	}
	return nil, predicting(a.stop(FailureProtocol, fmt.Sprintf("the worker said %s in answer to predict", protocol.Name(in.Message))))
}

// predicting marks a failure that the harness saw as one of a prediction.
func predicting(f *Failure) *Failure {
	f.Phase = phasePredict
	return f
}
