//go:build unix

package harness

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// canRunTrials says whether this system has the pipes that a worker inherits.
const canRunTrials = true

// ownGroup makes the process lead a group of its own.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithParent(cmd.SysProcAttr)
}

// killGroup ends every process of the group that a process leads.
func killGroup(leader int) { _ = unix.Kill(-leader, unix.SIGKILL) }

// groupOf is the group of a process; -1 where there is none.
func groupOf(id int) int {
	group, err := unix.Getpgid(id)
	if err != nil {
		return -1
	}
	return group
}

// signalOf is the name of the signal that ended a process, such as SIGKILL; empty: none did.
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return unix.SignalName(status.Signal())
	}
	return ""
}

// processorTime is what this process itself has used of the processors.
func processorTime() time.Duration {
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
