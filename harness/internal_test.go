package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// smallDisk is a file on a disk with so much room.
type smallDisk struct {
	bytes.Buffer
	room int
}

func (d *smallDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room-d.Len())
	d.Buffer.Write(b[:n])
	if n < len(b) {
		return n, &os.PathError{Op: "write", Path: "run.jsonl", Err: syscall.ENOSPC}
	}
	return n, nil
}

func (d *smallDisk) Sync() error               { return nil }
func (d *smallDisk) Close() error              { return nil }
func (d *smallDisk) Truncate(size int64) error { d.Buffer.Truncate(int(size)); return nil }

// TestFullDisk appends until the disk is full: the error says what to do, and the lines before stay whole.
func TestFullDisk(t *testing.T) {
	disk := &smallDisk{room: 300}
	j := &journal{path: filepath.Join("runs", "a", JournalName), file: disk}
	if err := j.append(Header{V: 1, Record: KindHeader}); err == nil {
		t.Fatal("the header is longer than the disk")
	}
	if disk.Len() != 0 {
		t.Errorf("%d bytes of the header stayed", disk.Len())
	}
	disk.room = 5000
	var err error
	written := 0
	for ; err == nil; written++ {
		err = j.append(TrialRecord{V: 1, Record: KindTrial, Number: written + 1})
	}
	var end *ExitError
	if !errors.As(err, &end) || end.ExitCode() != ExitFailed || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space, then: autotune resume "+filepath.Join("runs", "a")) {
		t.Errorf("error %v", err)
	}
	if lines := bytes.Count(disk.Bytes(), []byte("\n")); lines != written-1 || !bytes.HasSuffix(disk.Bytes(), []byte("}\n")) {
		t.Errorf("%d whole lines of %d trials; the end is %q", lines, written-1, disk.Bytes()[disk.Len()-20:])
	}
	disk.room = 10000
	if err := j.append(TrialRecord{V: 1, Record: KindTrial, Number: written}); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestDeviceFull begins a run whose journal lies on a disk without room.
func TestDeviceFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		return // only some systems have it
	}
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, JournalName)); err != nil {
		t.Fatal(err)
	}
	_, err := createJournal(dir, Header{V: 1, Record: KindHeader})
	if !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), "is full") {
		t.Errorf("error %v", err)
	}
}

// FuzzJournal reads anything as a journal. What can be read is read the same
// after the torn end is cut off, and what was read can be judged.
func FuzzJournal(f *testing.F) {
	header, _ := json.Marshal(Header{V: 1, Record: KindHeader})
	trial, _ := json.Marshal(TrialRecord{V: 1, Record: KindTrial, Number: 1})
	f.Add(append(append(header, '\n'), trial...))
	f.Add([]byte(string(header) + "\n" + `{"v":1,"record":"trial","trial":1,"micro_batch":1,"accumulation_steps":1,"losses":[null],"failure":{"type":"harness.exit"}}` + "\n"))
	f.Add([]byte(string(header) + "\n" + `{"v":1,"record":"recommendation"}` + "\n{"))
	f.Add([]byte(string(header) + "\n" + `{"v":1,"record":"forecast","accumulation_steps":1,"lines":[{"fixed_bytes":1}],"failure":null}` + "\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		run, err := parseJournal(bytes.NewReader(content))
		if err != nil {
			return
		}
		run.Judged()
		again, err := parseJournal(bytes.NewReader(content[:len(content)-run.TornBytes]))
		if err != nil || again.TornBytes != 0 || len(again.Trials) != len(run.Trials) || len(again.Forecasts) != len(run.Forecasts) {
			t.Fatalf("cut at %d of %d bytes: %v", run.TornBytes, len(content), err)
		}
	})
}

// TestOutputKeepsBothEnds prints more than a log keeps, and more than an excerpt shows.
func TestOutputKeepsBothEnds(t *testing.T) {
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	read, write := io.Pipe()
	o := copyOutput(read, log)
	_, _ = io.WriteString(write, "the reason\n")
	for range maxLog / 4096 {
		_, _ = write.Write(bytes.Repeat([]byte("x"), 4096))
	}
	_, _ = io.WriteString(write, "\nthe end")
	_ = write.Close()
	text := o.excerpt(true)
	if !strings.HasPrefix(text, "the reason\n") || !strings.HasSuffix(text, "\nthe end") || len(text) > 3*excerptEnd || !strings.Contains(text, "bytes left out") {
		t.Errorf("excerpt of %d bytes", len(text))
	}
	if err := o.close(); err != nil {
		t.Error(err)
	}
	content, err := os.ReadFile(log.Name())
	if err != nil || len(content) > maxLog+2*logEnd || !bytes.HasPrefix(content, []byte("the reason\n")) || !bytes.HasSuffix(content, []byte("\nthe end")) {
		t.Errorf("a log of %d bytes, %v", len(content), err)
	}
}

func TestStepDeadline(t *testing.T) {
	for longest, want := range map[float64]float64{0: 10, 0.5: 15, 60: 610, 1e300: maxSeconds + 10} {
		if got := stepDeadline(longest).Seconds(); got != want {
			t.Errorf("after a step of %v s: %v s, want %v", longest, got, want)
		}
	}
}

// TestSleepIsLeftOut moves deadlines by the time in which the harness was stopped, and by no other.
func TestSleepIsLeftOut(t *testing.T) {
	now := time.Now()
	for _, c := range []struct{ gap, moved time.Duration }{
		{lookLatest, 0}, {asleep - 1, 0}, {asleep, asleep}, {time.Hour, time.Hour},
	} {
		a := &attempt{looked: now, trialEnd: now.Add(time.Minute), stepEnd: now.Add(time.Second)}
		a.leaveOutSleep(now.Add(c.gap))
		if got := a.trialEnd.Sub(now) - time.Minute; got != c.moved {
			t.Errorf("after %v the trial's deadline moved by %v, want %v", c.gap, got, c.moved)
		}
		if got := a.stepEnd.Sub(now) - time.Second; got != c.moved {
			t.Errorf("after %v the step's deadline moved by %v, want %v", c.gap, got, c.moved)
		}
		a = &attempt{looked: now}
		if a.leaveOutSleep(now.Add(c.gap)); !a.stepEnd.IsZero() {
			t.Errorf("a step has a deadline before one ended")
		}
	}
}

func TestUntilNextLook(t *testing.T) {
	const GiB = 1 << 30
	for _, c := range []struct{ resident, killAt, want int64 }{ // want in milliseconds
		{GiB, 0, 100}, {GiB, 8 * GiB, 100}, {GiB, GiB + GiB/5, 50}, {GiB, GiB + 1, 20}, {2 * GiB, GiB, 20},
	} {
		if got := untilNextLook(c.resident, c.killAt); got.Round(time.Millisecond).Milliseconds() != c.want {
			t.Errorf("%d of %d: %v, want %d ms", c.resident, c.killAt, got, c.want)
		}
	}
}

func TestSeenPeakLeavesOutWhatWasLeft(t *testing.T) {
	for _, c := range []struct {
		left  int64
		looks []int64
		want  int64
	}{
		{0, []int64{50, 300, 200}, 300},
		{1000, []int64{1000, 990, 200, 300}, 300},
		{1000, []int64{1000, 990}, 0},
		{1000, []int64{1000, 1200}, 1200},
	} {
		s := seenPeak{left: c.left}
		for _, look := range c.looks {
			s.look(look)
		}
		if s.peak != c.want {
			t.Errorf("%d left, then %v: %d, want %d", c.left, c.looks, s.peak, c.want)
		}
	}
}
