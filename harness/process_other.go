//go:build unix && !linux

package harness

import "syscall"

// endWithParent does nothing here: a worker ends when its descriptor 3 does.
func endWithParent(*syscall.SysProcAttr) {}
