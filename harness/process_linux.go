package harness

import "syscall"

// endWithParent makes the kernel end the process when the thread that started
// it ends (prctl(2), PR_SET_PDEATHSIG), and so when this process is killed.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
