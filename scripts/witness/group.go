package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The files of a control group's memory controller.
const (
	processesFile = "cgroup.procs"
	highWaterV1   = "memory.max_usage_in_bytes"
	highWaterV2   = "memory.peak"
)

// group is a control group of version 1 or 2; its zero value is none.
type group struct {
	folder    string
	highWater string // its file
}

// newGroup makes one; the error says why it is refused.
func newGroup() (group, error) {
	var refused []error
	for _, g := range []group{{"/sys/fs/cgroup/memory", highWaterV1}, {"/sys/fs/cgroup", highWaterV2}} {
		if _, err := os.Stat(filepath.Join(g.folder, processesFile)); err != nil {
			refused = append(refused, err)
			continue
		}
		g.folder = filepath.Join(g.folder, fmt.Sprintf("autotune-witness-%d", os.Getpid()))
		if err := os.Mkdir(g.folder, 0o755); err != nil {
			refused = append(refused, err)
			continue
		}
		if _, err := os.Stat(filepath.Join(g.folder, g.highWater)); err != nil {
			refused = append(refused, err, os.Remove(g.folder))
			continue
		}
		return g, nil
	}
	return group{}, errors.Join(refused...)
}

// processes is the file that a process enters the group by; empty: there is no group.
func (g group) processes() string {
	if g.folder == "" {
		return ""
	}
	return filepath.Join(g.folder, processesFile)
}

// peak is the most memory that the group had, in bytes.
func (g group) peak() (int64, error) {
	text, err := os.ReadFile(filepath.Join(g.folder, g.highWater))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
