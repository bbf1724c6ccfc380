//go:build unix

package pytorch

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the process lead a group, which ends with the command's context.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}

// endGroup ends what is left of the process's group once it has ended itself: a user's code may have started others.
func endGroup(command *exec.Cmd) {
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // none is left, as a rule
	}
}
