//go:build linux

package main

import (
	"autotune/harness"
	"autotune/tuner"
)

// The kinds that are named in more places than the table.
const (
	kindException = "out of memory as an exception"
	kindFlood     = "floods stdout and stderr"
	kindLie       = "says less memory than it has"
	kindGrowth    = "grows slowly"
	kindBatchNorm = "size 1 fails as with BatchNorm"
	kindIndex     = "sizes above an index limit fail"
	kindHole      = "one size fails for another reason"
	kindBusy      = "the device gets busy half way"
)

// kind is one way to misbehave.
type kind struct {
	name string
	// phases are the moments of a worker in which it can come; none: the tuner is hit, or the fault lasts.
	phases []string
	// hit are the statuses that a trial may have that the fault hit; it may be unhurt besides.
	hit []tuner.Status
	// exits are exit codes, beside 0, with which the run may end and say why.
	exits    []int
	once     bool // no moment: one run is all
	hangs    bool // somebody has to wait for a deadline
	alone    bool // it disturbs what runs beside it
	resident bool // the limit is on the resident set
	group    bool // it needs a control group
	size     bool // it has a size
	pending  bool // the harness does not hold it yet; tests leave it out
	drive    func(*drive)
	mount    string
}

var (
	anywhere = []string{phaseStart, phasePredict, phaseBuild, phaseWarmup, phaseStep, phaseDone, phaseClean, phaseExit}
	between  = []string{phaseStart, phaseBuild, phaseWarmup, phaseStep, phaseDone}
	inTrial  = []string{phaseBuild, phaseWarmup, phaseStep, phaseDone}
	inStep   = []string{phaseWarmup, phaseStep}
	atDone   = []string{phaseDone}

	crashed = []tuner.Status{tuner.Crashed}
	timeout = []tuner.Status{tuner.Timeout}
	invalid = []tuner.Status{tuner.Invalid}
	noMem   = []tuner.Status{tuner.OOM}
)

// kinds is the fault table, in the order of its rows.
var kinds = []kind{
	{name: kindException, phases: []string{phasePredict, phaseBuild, phaseWarmup, phaseStep}, hit: noMem},
	{name: "killed by the kernel for memory", phases: between, hit: []tuner.Status{tuner.OOM, tuner.Crashed}, group: true, alone: true},
	{name: "SIGKILL", phases: anywhere, hit: []tuner.Status{tuner.OOM, tuner.Crashed}},
	{name: "SIGSEGV", phases: anywhere, hit: crashed},
	{name: "abort", phases: anywhere, hit: crashed},
	{name: "exit 0 without an answer", phases: anywhere, hit: crashed},
	{name: "exit 3", phases: anywhere, hit: crashed},
	{name: "hang", phases: anywhere, hit: timeout, hangs: true},
	{name: "hang, ignoring SIGTERM", phases: anywhere, hit: timeout, hangs: true},
	{name: "grandchild in the group", phases: anywhere},
	{name: "grandchild in another group", phases: anywhere, pending: true},
	{name: "grandchild in another session", phases: anywhere, pending: true},
	{name: "grandchild in another session holds the pipes", phases: between, hit: crashed, pending: true},
	{name: "grandchild in another session, the worker killed", phases: between, hit: []tuner.Status{tuner.OOM, tuner.Crashed}, pending: true},
	{name: "closes the answers", phases: between, hit: invalid},
	{name: "closes the requests", phases: between, hit: timeout, hangs: true},
	{name: "closes stdout and stderr", phases: anywhere},
	{name: "garbage", phases: between, hit: invalid},
	{name: "half a line, then nothing", phases: between, hit: []tuner.Status{tuner.Timeout, tuner.Invalid}, hangs: true},
	{name: "half a line, then the end", phases: between, hit: crashed},
	{name: "a line of 100 MB", phases: between, hit: invalid},
	{name: "invalid UTF-8", phases: between, hit: invalid},
	{name: "NaN", phases: between, hit: invalid},
	{name: "a time beyond all numbers", phases: between, hit: invalid},
	{name: "a negative time", phases: inStep, hit: invalid},
	{name: "the clock jumps ahead", phases: inStep, hit: invalid},
	{name: "the clock stands", phases: inStep, hit: invalid},
	{name: "an unknown operation", phases: between, hit: invalid},
	{name: "done is said twice", phases: inTrial, hit: invalid},
	{name: kindFlood, phases: anywhere},
	{name: "one step too few said", phases: atDone, hit: invalid},
	{name: "one step too many said", phases: atDone, hit: invalid},
	{name: "another batch", phases: inStep, hit: invalid},
	{name: "negative memory", phases: atDone, hit: invalid},
	{name: "no memory said", phases: atDone, hit: invalid},
	{name: "boundless memory said", phases: atDone, hit: noMem},
	{name: kindLie, phases: inTrial, hit: noMem, resident: true},
	{name: kindGrowth, phases: inTrial, hit: noMem, resident: true},
	{name: kindBatchNorm, hit: crashed, once: true, exits: []int{harness.ExitFailed}, drive: driveToEnd},
	{name: kindIndex, hit: crashed, size: true, drive: driveToEnd},
	{name: kindHole, hit: crashed, size: true, drive: driveToEnd},
	{name: kindBusy, hit: noMem, size: true, drive: driveToEnd},
	{name: "full disk under the run", mount: mountJournal, drive: driveDisk},
	{name: "full disk under the logs", mount: mountLogs, drive: driveDisk},
	{name: "read-only disk under the run", mount: mountReadOnly, once: true, exits: []int{harness.ExitUsage}, drive: driveDisk},
	{name: "a folder under a file", once: true, exits: []int{harness.ExitUsage}, drive: driveUnderFile},
	{name: "torn journal", exits: []int{harness.ExitUsage}, drive: driveTorn},
	{name: "SIGINT of the tuner", drive: driveSignal},
	{name: "SIGTERM of the tuner", drive: driveSignal},
	{name: "SIGHUP of the tuner", drive: driveSignal},
	{name: "SIGKILL of the tuner", drive: driveSignal},
	{name: "second tuner in the same folder", drive: driveSecond},
}
