package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"autotune/harness"
)

// survivePipes makes a write to a pipe that nobody reads an error instead of the
// end of the process: a run goes on when whoever read its progress has gone.
func survivePipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// interruptible gives a context that the first SIGINT, SIGTERM or SIGHUP
// cancels, so that the run ends cleanly; the second ends the process at once, and its
// workers with it, after last was called. A SIGHUP that is ignored, as nohup makes
// it, stays ignored. stop gives the signals back.
func interruptible(last func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
		case <-done:
			return
		}
		select {
		case <-signals:
			last()
			os.Exit(harness.ExitInterruption)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}
