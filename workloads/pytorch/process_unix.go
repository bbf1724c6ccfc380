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
