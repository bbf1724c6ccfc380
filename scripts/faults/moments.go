//go:build linux

package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"autotune/harness"
	"autotune/tuner"
)

// undisturbed are the trials of a run that nothing hits. Faults come in one of them.
type undisturbed struct{ plain, predicted trials }

// trials are numbers of trials, of all and of those that ran to their end, and the micro-batches of the latter.
type trials struct{ all, ran, sizes []int }

// trialsOf gives those of a run.
func trialsOf(run *harness.Run) trials {
	var t trials
	for _, trial := range run.Judged() {
		t.all = append(t.all, trial.Number)
		if trial.Status == tuner.OK {
			t.ran, t.sizes = append(t.ran, trial.Number), append(t.sizes, trial.MicroBatch)
		}
	}
	return t
}

// count makes both runs; their answer must be the known one.
func count(l limits) (undisturbed, error) {
	var u undisturbed
	for _, predicts := range []bool{false, true} {
		d, err := newDrive(&kind{name: "none"}, 0, l)
		if err != nil {
			return u, err
		}
		d.job.Predicts = predicts
		d.do(d.job)
		o := d.check()
		run, err := harness.ReadRun(d.run())
		if len(o.problems) > 0 || err != nil {
			return u, fmt.Errorf("a run without a fault does not hold, see %s: %v, %s", d.folder, err, strings.Join(o.problems, "; "))
		}
		_ = os.RemoveAll(d.folder)
		if predicts {
			u.predicted = trialsOf(run)
		} else {
			u.plain = trialsOf(run)
		}
	}
	return u, nil
}

var drives atomic.Int64

// newDrive makes the folder of a run.
func newDrive(k *kind, seed uint64, l limits) (*drive, error) {
	folder, err := os.MkdirTemp("", "autotune-faults-")
	if err != nil {
		return nil, err
	}
	state := filepath.Join(folder, "state")
	if err := os.Mkdir(state, 0o777); err != nil {
		return nil, err
	}
	d := &drive{
		kind: k, seed: seed, limits: l, folder: folder, random: rand.New(rand.NewPCG(seed, hashOf(k.name))),
		id: strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(drives.Add(1), 10),
	}
	d.job = job{
		Dir: filepath.Join(folder, "disk", "run"), Deadline: patience, Batch: "1..128", Counter: counterOf(k), Mount: k.mount,
		Fault: fault{Kind: k.name, State: state},
	}
	if k.name == kindBatchNorm {
		d.job.Batch = "1"
	}
	if k.hangs {
		d.job.Deadline = l.deadline
	}
	return d, nil
}

// hashOf makes kinds differ in what one seed gives them.
func hashOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// place chooses the moment: the phase by turns, the trial and the size by the seed.
func (d *drive) place(u undisturbed, phase string) {
	d.job.Fault.Phase = phase
	d.job.Predicts = phase == phasePredict
	among := u.plain
	if d.job.Predicts {
		among = u.predicted
	}
	numbers := among.all
	if slices.Contains([]string{phaseWarmup, phaseStep, phaseDone, phaseClean}, phase) {
		numbers = among.ran
	}
	d.job.Fault.Trial = numbers[d.random.IntN(len(numbers))]
	d.job.Fault.Fresh = phase == phaseStart || phase == phaseExit
	if d.kind.size {
		d.job.Fault.Size = 2 + d.random.IntN(trueBorder-1)
	}
	if d.kind.name == kindHole {
		d.job.Fault.Size = u.plain.sizes[d.random.IntN(len(u.plain.sizes))]
	}
	d.job.Pages = 2 + d.random.IntN(3)
}

// runMoment makes one run with the kind's fault.
func runMoment(k *kind, phase string, seed uint64, u undisturbed, l limits) outcome {
	d, err := newDrive(k, seed, l)
	if err != nil {
		return outcome{kind: k, seed: seed, problems: []string{err.Error()}}
	}
	d.place(u, phase)
	if k.group {
		group, err := makeGroup(d.id)
		if err != nil {
			_ = os.RemoveAll(d.folder)
			return outcome{kind: k, seed: seed, notRun: err.Error()}
		}
		defer func() { _ = os.Remove(group) }()
		d.job.Fault.Group = group
	}
	if k.drive != nil {
		k.drive(d)
	} else {
		driveToEnd(d)
	}
	o := d.check()
	if len(o.problems) == 0 {
		_ = os.RemoveAll(d.folder)
	}
	return o
}

// groupMemory is what a control group has, in bytes.
const groupMemory = 48 * mib

// makeGroup makes a control group with little memory, of version 1 or 2.
func makeGroup(id string) (string, error) {
	var refused error
	for _, v := range []struct{ root, limit, swap string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	} {
		group := filepath.Join(v.root, "autotune-faults-"+id)
		if err := os.Mkdir(group, 0o777); err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(group, v.limit), []byte(strconv.Itoa(groupMemory)), 0); err != nil {
			_ = os.Remove(group)
			refused = errors.Join(refused, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(group, v.swap), []byte("0"), 0); err != nil { // version 1 takes no less than the limit
			_ = os.WriteFile(filepath.Join(group, v.swap), []byte(strconv.Itoa(groupMemory)), 0)
		}
		return group, nil
	}
	return "", fmt.Errorf("no control group can be made: %w", refused)
}

// mountsRefused says why disks cannot be mounted here; empty: they can.
func mountsRefused() string {
	if os.Geteuid() != 0 {
		return "mounting a disk takes root"
	}
	p, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}})
	if err != nil {
		return "no mount namespace can be made: " + err.Error()
	}
	_, _ = p.Wait()
	return ""
}
