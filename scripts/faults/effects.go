//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"autotune/harness/protocol"
)

// closeRequests closes the pipe that the worker reads, and puts one in its place on which nothing comes: a descriptor that
// is gone would end this process or not, as its reader happened to wait or not.
func closeRequests() {
	var idle [2]int
	if err := unix.Pipe2(idle[:], unix.O_CLOEXEC); err == nil {
		_ = unix.Dup3(idle[0], 3, unix.O_CLOEXEC)
	}
}

// effects are what a worker does when the moment of its fault has come, by the kind's name.
var effects = map[string]func(*moment){
	kindException: func(m *moment) {
		m.err = &protocol.Error{Type: "torch.OutOfMemoryError", Phase: "forward", Err: errors.New("CUDA out of memory. Tried to allocate 2.00 GiB")}
	},
	"killed by the kernel for memory": func(m *moment) { joinGroup(m.Group); take(512) },
	"SIGKILL":                         func(*moment) { dieOf("KILL") },
	"SIGSEGV":                         func(*moment) { dieOf("SEGV") },
	"abort":                           func(*moment) { dieOf("ABRT") },
	"exit 0 without an answer":        func(*moment) { os.Exit(0) },
	"exit 3":                          func(*moment) { fmt.Fprintln(os.Stderr, "the last words"); os.Exit(3) },
	"hang":                            func(*moment) { hang() },
	"hang, ignoring SIGTERM": func(*moment) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		hang()
	},
	"grandchild in the group":                          func(*moment) { leave("sleep 300 &", nil) },
	"grandchild in another group":                      func(*moment) { leave("exec sleep 300", &syscall.SysProcAttr{Setpgid: true}) },
	"grandchild in another session":                    func(*moment) { leave("exec sleep 300", &syscall.SysProcAttr{Setsid: true}) },
	"grandchild in another session holds the pipes":    func(*moment) { leave("exec sleep 300", &syscall.SysProcAttr{Setsid: true}, 3, 4); os.Exit(3) },
	"grandchild in another session, the worker killed": func(*moment) { leave("exec sleep 300", &syscall.SysProcAttr{Setsid: true}); dieOf("KILL") },
	"closes the answers":                               func(*moment) { _ = syscall.Close(4); hang() },
	"closes the requests":                              func(*moment) { closeRequests(); hang() },
	"closes stdout and stderr":                         func(*moment) { _ = syscall.Close(1); _ = syscall.Close(2) },
	"garbage":                                          func(*moment) { say("\x00\x01 garbage\n"); hang() },
	"half a line, then nothing":                        func(*moment) { say(`{"v":1,"op":"st`); hang() },
	"half a line, then the end":                        func(*moment) { say(`{"v":1,"op":"st`); os.Exit(0) },
	"a line of 100 MB": func(*moment) {
		for range 100 {
			say(strings.Repeat("x", 1_000_000))
		}
		say("\n")
		hang()
	},
	"invalid UTF-8": func(*moment) {
		say("{\"v\":1,\"op\":\"st\xffep\",\"seconds\":0.001,\"loss\":1,\"samples\":1}\n")
		hang()
	},
	"NaN": func(*moment) {
		say(`{"v":1,"op":"step","warmup":false,"seconds":NaN,"loss":1,"samples":1}` + "\n")
		hang()
	},
	"a time beyond all numbers": func(*moment) {
		say(`{"v":1,"op":"step","warmup":false,"seconds":1e999,"loss":1,"samples":1}` + "\n")
		hang()
	},
	"a negative time":        func(m *moment) { m.step.Seconds = -1 },
	"the clock jumps ahead":  func(m *moment) { m.step.Seconds = 1e7 },
	"the clock stands":       func(m *moment) { m.step.Seconds = 0 },
	"an unknown operation":   func(*moment) { say(`{"v":1,"op":"song"}` + "\n"); hang() },
	"done is said twice":     func(*moment) { say(`{"v":1,"op":"done","steps_run":3,"memory":{"peak_reset":true}}` + "\n") },
	kindFlood:                func(*moment) { flood() },
	"one step too few said":  func(m *moment) { m.done.StepsRun-- },
	"one step too many said": func(m *moment) { m.done.StepsRun++ },
	"another batch":          func(m *moment) { m.step.Samples-- },
	"negative memory":        func(m *moment) { m.done.Memory.Peak[protocol.Simulated] = -1 },
	"no memory said":         func(m *moment) { m.done.Memory.Peak = nil },
	"boundless memory said":  func(m *moment) { m.done.Memory.Peak[protocol.Simulated] = 1 << 62 },
	kindLie:                  func(*moment) { take(200); hang() },
	kindGrowth:               func(*moment) { grow() },
}

func hang() { time.Sleep(time.Hour) }

// dieOf ends this process by the signal itself, which Go's runtime would catch.
func dieOf(name string) {
	_ = syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -s " + name + " $$; sleep 60"}, os.Environ())
}

// say writes raw bytes to the answers' pipe.
func say(text string) { _, _ = syscall.Write(4, []byte(text)) }

// leave starts a process that outlives what started it and holds some descriptors.
func leave(script string, how *syscall.SysProcAttr, held ...uintptr) {
	child := exec.Command("/bin/sh", "-c", script)
	child.SysProcAttr, child.Stdout, child.Stderr = how, os.Stdout, os.Stderr
	for _, descriptor := range held {
		child.ExtraFiles = append(child.ExtraFiles, os.NewFile(descriptor, "held"))
	}
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// flood prints 64 MB, half to each stream, with a last word.
func flood() {
	block := bytes.Repeat([]byte(strings.Repeat("y", 127)+"\n"), 8192)
	for range 32 {
		_, _ = os.Stdout.Write(block)
		_, _ = os.Stderr.Write(block)
	}
	fmt.Println(lastWord)
}

// take touches so many MiB at once.
func take(size int) { held = append(held, touched(size)) }

// grow takes memory bit by bit until somebody stops it.
func grow() {
	for range 40 {
		take(8)
		time.Sleep(10 * time.Millisecond)
	}
	hang()
}

var held [][]byte // so that it stays

func touched(size int) []byte {
	block := make([]byte, size*mib)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	return block
}

// joinGroup moves this process into a control group.
func joinGroup(group string) {
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
