package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"autotune/harness"
)

// interruptible gives a context that the first SIGINT, SIGTERM or SIGHUP
// cancels, so that the run ends cleanly; the second ends the process at once, and its
// workers with it. stop gives the signals back.
func interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
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
