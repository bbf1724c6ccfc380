package harness

import (
	"time"

	"github.com/prometheus/procfs"
)

const (
	// watchEvery is how often the resident set of a worker's group is looked at: often enough
	// to stop a worker within a few hundred megabytes, and at 20 us a look below 0.1% of a core.
	watchEvery = 25 * time.Millisecond
	// scanEvery is how often the group's members are looked for, which reads all of /proc.
	scanEvery = 2 * time.Second
)

// residentWatch sees the resident set of a process group from outside.
type residentWatch struct {
	proc    procfs.FS
	group   int
	members []procfs.Proc
	scanned time.Time
}

// watchGroup watches the group of a process that leads one; nil where the system has no /proc.
func watchGroup(leader int) *residentWatch {
	proc, err := procfs.NewFS(procfs.DefaultMountPoint)
	if err != nil {
		return nil
	}
	first, err := proc.Proc(leader)
	if err != nil {
		return nil
	}
	return &residentWatch{proc: proc, group: leader, members: []procfs.Proc{first}, scanned: time.Now()}
}

// bytes is the sum of the members' resident sets; pages that they share count for each.
func (w *residentWatch) bytes() int64 {
	if w == nil {
		return 0
	}
	if time.Since(w.scanned) >= scanEvery {
		w.scan()
	}
	var sum int64
	for _, member := range w.members {
		if memory, err := member.Statm(); err == nil {
			sum += int64(memory.ResidentBytes())
		}
	}
	return sum
}

// scan looks for the group's members.
func (w *residentWatch) scan() {
	w.scanned = time.Now()
	all, err := w.proc.AllProcs()
	if err != nil {
		return
	}
	w.members = w.members[:0]
	for _, p := range all {
		if stat, err := p.Stat(); err == nil && stat.PGRP == w.group {
			w.members = append(w.members, p)
		}
	}
}
