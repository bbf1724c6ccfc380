package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// lookSoonest and lookLatest bound the time between two looks at the resident set of a
	// worker's group. A look wakes the harness, which costs about 0.1 ms of processor time with
	// all that the system does for it: at the latest time, 0.1% of one core.
	lookSoonest = 20 * time.Millisecond
	lookLatest  = 100 * time.Millisecond
	// growthPerSecond is more than a few threads can newly touch in a second, in bytes: the kernel
	// clears each page first.
	growthPerSecond = 4 << 30
	// scanEvery is how often the group's members are looked for.
	scanEvery = 2 * time.Second
)

// untilNextLook is when to look again so that a worker is seen soon after it
// passes killAt; 0 for killAt: it is not stopped for its memory.
func untilNextLook(resident, killAt int64) time.Duration {
	if killAt == 0 {
		return lookLatest
	}
	reach := seconds(float64(killAt-resident) / growthPerSecond)
	return min(max(reach, lookSoonest), lookLatest)
}

// seenPeak is the highest resident set that was seen in a trial. What the trial
// before had left is not this one's: a worker gives it back when it begins.
type seenPeak struct {
	left int64 // when the trial began; 0: it has been given back
	peak int64
}

// look takes one look. What was left counts as given back when a tenth of it is gone.
func (s *seenPeak) look(resident int64) {
	if resident < s.left-s.left/10 {
		s.left = 0
	}
	if resident > s.left {
		s.peak = max(s.peak, resident)
	}
}

// residentWatch sees the resident set of a process group from outside, as
// /proc/PID/statm has it (proc_pid_statm(5)). The files stay open: a look is one
// read for each process.
type residentWatch struct {
	group   int
	members map[int]*os.File // statm by process id
	scanned time.Time
	buffer  [256]byte
}

// watchGroup watches the group of a process that leads one.
func watchGroup(leader int) *residentWatch {
	w := &residentWatch{group: leader, members: map[int]*os.File{}, scanned: time.Now()}
	w.add(leader)
	return w
}

// bytes is the sum of the members' resident sets; pages that they share count
// for each. 0: the system does not show it.
func (w *residentWatch) bytes() int64 {
	if time.Since(w.scanned) >= scanEvery {
		w.scan()
	}
	var pages int64
	for id, file := range w.members {
		n, err := file.ReadAt(w.buffer[:], 0)
		fields := bytes.Fields(w.buffer[:n])
		if n == 0 && err != nil || len(fields) < 2 { // the process has ended
			_ = file.Close()
			delete(w.members, id)
			continue
		}
		resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		pages += resident
	}
	return pages * int64(os.Getpagesize())
}

// scan looks for the group's members among all processes.
func (w *residentWatch) scan() {
	w.scanned = time.Now()
	all, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer func() { _ = all.Close() }()
	names, _ := all.Readdirnames(-1)
	for _, name := range names {
		id, err := strconv.Atoi(name)
		if err == nil && w.members[id] == nil && groupOf(id) == w.group {
			w.add(id)
		}
	}
}

// add makes a process a member.
func (w *residentWatch) add(id int) {
	file, err := os.Open(filepath.Join("/proc", strconv.Itoa(id), "statm"))
	if err == nil {
		w.members[id] = file
	}
}

// close ends the watch.
func (w *residentWatch) close() {
	for _, file := range w.members {
		_ = file.Close()
	}
}
