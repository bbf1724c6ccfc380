package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"autotune/harness/protocol"
)

const (
	// stepFactor and stepGrace bound a step by the longest before it in the same trial.
	stepFactor = 10
	stepGrace  = 10 * time.Second
	// overLimit is the part of the memory limit at which a worker is killed, so that the machine
	// stays usable.
	overLimit = 1.25
	// asleep is the time between two checks from which on this process itself was stopped, as by
	// Ctrl-Z: a check is due every lookLatest.
	asleep = 3 * time.Second
)

// attempt is one trial on one worker, while it runs.
type attempt struct {
	worker *worker
	record *TrialRecord // filled in as the worker answers
	killAt int64        // resident bytes of the worker's group; 0: none
	// allowed is the time to the end of the trial, in seconds.
	allowed float64

	seen     seenPeak
	longest  float64   // step so far, in seconds
	looked   time.Time // when check last did
	trialEnd time.Time // deadline
	stepEnd  time.Time // deadline; zero: no step has ended yet
	ended    bool      // done or failed was said
}

// run sends the trial and listens until it has ended, one way or another. What
// was seen is in the record; the result is how it failed, nil for done. A worker
// that cannot go on is killed, and its spent says why.
func (a *attempt) run(ctx context.Context, trial *protocol.Trial) *Failure {
	a.worker.trials++
	a.seen.left = a.worker.watch.bytes()
	if err := a.worker.send(trial); err != nil && !a.worker.exitsWithin(stopPatience) {
		return a.stop(FailureProtocol, fmt.Sprintf("the worker does not read its requests: %v", err))
	}
	a.looked = time.Now()
	a.trialEnd = a.looked.Add(seconds(a.allowed))
	look := time.NewTimer(lookSoonest)
	defer look.Stop()
	for {
		select {
		case in := <-a.worker.inbox:
			if failed := a.take(in); failed != nil || a.ended {
				a.look()
				return failed
			}
		case <-a.worker.exited:
			return a.drain()
		case <-look.C:
			next, failed := a.check(time.Now())
			if failed != nil {
				return failed
			}
			look.Reset(next)
		case <-ctx.Done():
			return a.stop(FailureInterrupted, "stopped while it ran")
		}
	}
}

// check stops a worker that has grown too far or takes too long, and says when to check again.
func (a *attempt) check(now time.Time) (next time.Duration, failed *Failure) {
	resident := a.look()
	a.leaveOutSleep(now)
	switch {
	case a.killAt > 0 && resident > a.killAt:
		return 0, a.stop(FailureOverLimit, fmt.Sprintf("the resident set had grown to %s, and %s is where a worker is stopped",
			FormatBytes(resident), FormatBytes(a.killAt)))
	case now.After(a.trialEnd):
		return 0, a.stop(FailureDeadline, fmt.Sprintf("the trial had not ended after %.4g s", a.allowed))
	case !a.stepEnd.IsZero() && now.After(a.stepEnd):
		return 0, a.stop(FailureDeadline, fmt.Sprintf("a step had not ended after %.4g s; the longest before it took %.4g s",
			stepDeadline(a.longest).Seconds(), a.longest))
	}
	return untilNextLook(resident, a.killAt), nil
}

// leaveOutSleep moves the deadlines by the time in which this process was stopped: what the
// worker said meanwhile was not heard.
func (a *attempt) leaveOutSleep(now time.Time) {
	gap := now.Sub(a.looked)
	a.looked = now
	if gap < asleep {
		return
	}
	a.trialEnd = a.trialEnd.Add(gap)
	if !a.stepEnd.IsZero() {
		a.stepEnd = a.stepEnd.Add(gap)
	}
}

// seconds is a number of seconds as a duration, at most maxSeconds.
func seconds(s float64) time.Duration {
	return time.Duration(min(s, maxSeconds) * float64(time.Second))
}

// stepDeadline is how long a step may take after one of longest seconds.
func stepDeadline(longest float64) time.Duration {
	return seconds(stepFactor*longest) + stepGrace
}

// take handles one message; a.ended says that it was the last.
func (a *attempt) take(in protocol.Incoming) *Failure {
	switch m := in.Message.(type) {
	case *protocol.Step:
		return a.step(m)
	case *protocol.Done:
		if name := negative(m.Memory); name != "" {
			return a.stop(FailureProtocol, fmt.Sprintf("the worker reported a negative %s memory", name))
		}
		a.ended = true
		a.record.StepsRun, a.record.SkippedSteps, a.record.Memory = m.StepsRun, m.SkippedSteps, m.Memory
		return nil
	case *protocol.Failed:
		a.ended = true
		if m.Memory != nil && negative(*m.Memory) == "" {
			a.record.Memory = *m.Memory
		}
		return &Failure{Type: m.Type, Phase: m.Phase, Text: m.Text, Samples: max(0, m.Samples)}
	case nil:
		return a.silence(in.Err)
	}
	return a.stop(FailureProtocol, fmt.Sprintf("the worker said %s in the middle of a trial", protocol.Name(in.Message)))
}

// step records one step.
func (a *attempt) step(s *protocol.Step) *Failure {
	r := a.record
	switch {
	case s.Seconds < 0 || s.DeviceSeconds != nil && *s.DeviceSeconds < 0:
		return a.stop(FailureProtocol, fmt.Sprintf("a step of %v seconds was reported", s.Seconds))
	case s.HeldBytes < 0:
		return a.stop(FailureProtocol, fmt.Sprintf("%d bytes held after a step were reported", s.HeldBytes))
	case s.Warmup && len(r.StepSeconds) > 0:
		return a.stop(FailureProtocol, "a warm-up step was reported after a timed step")
	case s.Warmup:
		r.WarmupSeconds = append(r.WarmupSeconds, s.Seconds)
	default:
		r.StepSeconds = append(r.StepSeconds, s.Seconds)
		if s.DeviceSeconds != nil {
			r.DeviceSeconds = append(r.DeviceSeconds, *s.DeviceSeconds)
		}
		if s.HeldBytes > 0 {
			r.Held = append(r.Held, Held{len(r.StepSeconds), s.HeldBytes})
		}
	}
	r.Losses = append(r.Losses, s.Loss)
	r.Samples = append(r.Samples, s.Samples)
	a.longest = max(a.longest, s.Seconds)
	a.stepEnd = time.Now().Add(stepDeadline(a.longest))
	return nil
}

// look sees the resident set from outside, in bytes, and records the highest.
func (a *attempt) look() int64 {
	resident := a.worker.watch.bytes()
	a.seen.look(resident)
	a.record.SeenPeakBytes = a.seen.peak
	return resident
}

// silence handles the end of what the worker says: it has died, or it broke the protocol.
func (a *attempt) silence(err error) *Failure {
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if ended && a.worker.exitsWithin(stopPatience) {
		return a.death()
	}
	if ended {
		return a.stop(FailureProtocol, "the worker closed its pipe and went on running")
	}
	return a.stop(FailureProtocol, err.Error())
}

// drain takes what a worker that has ended said before.
func (a *attempt) drain() *Failure {
	patience := time.After(time.Second) // a process that left the group may hold the pipe
	for {
		select {
		case in := <-a.worker.inbox:
			if in.Err != nil {
				return a.death()
			}
			if failed := a.take(in); failed != nil || a.ended {
				return failed
			}
		case <-patience:
			return a.death()
		}
	}
}

// death is the failure of a worker that ended by itself.
func (a *attempt) death() *Failure {
	w := a.worker
	w.spent = "it ended"
	f := &Failure{Type: FailureExit, Phase: a.phase(), Signal: signalOf(w.command.ProcessState)}
	how := "signal " + f.Signal
	if f.Signal == "" {
		code := w.command.ProcessState.ExitCode()
		f.ExitCode, how = &code, fmt.Sprintf("exit code %d", code)
	}
	if now := kernelKills(); now != nil && w.kills != nil {
		kills := *now - *w.kills
		f.KernelKills = &kills
	}
	f.Text = fmt.Sprintf("the worker ended by itself with %s\n%s", how, w.output.excerpt(true))
	return f
}

// stop kills the worker; the failure is what the harness saw.
func (a *attempt) stop(kind, text string) *Failure {
	a.worker.spent = kind
	a.worker.kill()
	return &Failure{Type: kind, Phase: a.phase(), Text: text}
}

// phase is where the trial is, as far as it can be seen from outside.
func (a *attempt) phase() string {
	switch {
	case a.worker.ready.V == 0:
		return "start"
	case len(a.record.Samples) == 0:
		return "build"
	case len(a.record.WarmupSeconds) < a.record.WarmupSteps:
		return "warmup"
	}
	return "step"
}

// hear waits for the worker's next message, and takes one that it said before it ended. Where none comes, late is what the
// failure says of the time that passed, and stopped of a run that was stopped.
func (a *attempt) hear(ctx context.Context, patience time.Duration, late, stopped string) (protocol.Incoming, *Failure) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	select {
	case in := <-a.worker.inbox:
		return in, nil
	case <-a.worker.exited:
		select {
		case in := <-a.worker.inbox:
			return in, nil
		case <-time.After(time.Second): // a process that left the group may hold the pipe
			return protocol.Incoming{}, a.death()
		}
	case <-deadline.C:
		return protocol.Incoming{}, a.stop(FailureDeadline, late)
	case <-ctx.Done():
		return protocol.Incoming{}, a.stop(FailureInterrupted, stopped)
	}
}

// awaitReady waits for the worker's first message; the result is how the start failed.
func (a *attempt) awaitReady(ctx context.Context, patience time.Duration) *Failure {
	in, failed := a.hear(ctx, patience, fmt.Sprintf("the worker had not said ready after %v", patience), "stopped while a worker started")
	if failed != nil {
		return failed
	}
	return a.ready(in)
}

// ready handles the worker's first message.
func (a *attempt) ready(in protocol.Incoming) *Failure {
	switch m := in.Message.(type) {
	case *protocol.Ready:
		a.worker.ready = *m
		return nil
	case *protocol.Failed:
		a.worker.spent = "it could not start"
		return &Failure{Type: m.Type, Phase: m.Phase, Text: m.Text}
	case nil:
		return a.silence(in.Err)
	}
	return a.stop(FailureProtocol, fmt.Sprintf("the worker's first message was %s, not ready", protocol.Name(in.Message)))
}
