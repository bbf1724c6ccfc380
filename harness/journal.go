package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"
)

// journal appends records to a run's file while it holds the file's lock.
type journal struct {
	path string
	file journalFile
	size int64 // of the whole lines
	lock *flock.Flock
}

// journalFile is what a journal needs of its file.
type journalFile interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// createJournal begins a run's journal with its header.
func createJournal(dir string, h Header) (*journal, error) {
	j, size, err := openJournal(dir, "choose another folder with --out")
	if err != nil {
		return nil, err
	}
	if size > 0 {
		j.close()
		return nil, usagef("%s holds a run already: go on with it by: autotune resume %s, or choose another folder with --out", dir, dir)
	}
	if err := j.append(h); err != nil {
		j.close()
		return nil, err
	}
	return j, nil
}

// openJournal makes the run's folder where it is missing, locks the journal in
// it and opens it for appending; size is what it holds. Where it cannot, the error
// says what to do instead.
func openJournal(dir, instead string) (j *journal, size int64, err error) {
	if err := os.MkdirAll(filepath.Dir(logPath(dir, 0)), 0o777); err != nil {
		return nil, 0, usagef("the output folder %s cannot be made (%v): %s", dir, err, instead)
	}
	path := filepath.Join(dir, JournalName)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return nil, 0, usagef("the output folder %s cannot be written (%v): %s", dir, err, instead)
	}
	lock := flock.New(path)
	locked, err := lock.TryLock()
	if err == nil && locked {
		var info os.FileInfo
		if info, err = file.Stat(); err == nil {
			return &journal{path: path, file: file, size: info.Size(), lock: lock}, info.Size(), nil
		}
	}
	_ = lock.Close()
	_ = file.Close()
	if err != nil {
		return nil, 0, usagef("%s cannot be locked (%v), as on some network disks: %s", path, err, instead)
	}
	return nil, 0, usagef("another autotune is running in %s: wait for its end, or %s", dir, instead)
}

// cut removes everything past size, a line that was written in part.
func (j *journal) cut(size int64) error {
	if err := j.file.Truncate(size); err != nil {
		return exitf(ErrFailed, "%s: the torn last line cannot be cut off: %w", j.path, err)
	}
	j.size = size
	return nil
}

// append writes a record as one line and syncs it to the disk. Where that fails
// it takes the part that was written back, so that the journal stays whole.
func (j *journal) append(record any) error {
	line, err := json.Marshal(record)
	if err != nil {
		return exitf(ErrFailed, "%s: a record cannot be written: %w", j.path, err)
	}
	line = append(line, '\n')
	_, err = j.file.Write(line)
	if err == nil {
		err = j.file.Sync()
	}
	if err == nil {
		j.size += int64(len(line))
		return nil
	}
	_ = j.file.Truncate(j.size) // what stays after a failure here is a torn line, which resume cuts off
	return j.failed(err)
}

// failed is the error for a record that could not be written.
func (j *journal) failed(err error) error {
	dir := filepath.Dir(j.path)
	if errors.Is(err, syscall.ENOSPC) {
		return exitf(ErrFailed, "the disk of %s is full (%w): what was measured before is safe; free some space, then: autotune resume %s", j.path, err, dir)
	}
	return exitf(ErrFailed, "%s cannot be written (%w): what was measured before is safe; then: autotune resume %s", j.path, err, dir)
}

// close gives the lock back.
func (j *journal) close() {
	_ = j.file.Close()
	if j.lock != nil {
		_ = j.lock.Close()
	}
}

// logPath is where the output of a trial's worker goes.
func logPath(dir string, number int) string {
	return filepath.Join(dir, "logs", fmt.Sprintf("trial-%d.log", number))
}
