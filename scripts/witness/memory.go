package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/workloads"
)

// enterCommand is the argument with which the script starts a worker inside a control group.
const enterCommand = "enter"

const (
	memoryGoal  = 0.05
	leastJudged = 200e6 // bytes; smaller processes are shown, not judged
	sampleEvery = 2 * time.Millisecond
)

// peaks holds reported peaks against what the kernel counts.
func peaks(out io.Writer, list []job, _ int) error {
	fmt.Fprintln(out, "| model, engine | micro-batch | reported resident peak, B | of it files, B | anonymous: reported less files, B | sampled from outside, B | difference | control group's high-water mark, B | difference | goal within 5% |")
	fmt.Fprintln(out, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
	var rows []watched
	for _, j := range list {
		w, err := watch(j)
		if err != nil {
			return fmt.Errorf("%s: %w", j.name(), err)
		}
		rows = append(rows, w)
		anonymous := w.resident - w.files
		group, groupDifference, groupHolds := "not run: "+w.groupRefused, "", true
		if w.groupRefused == "" {
			group, groupDifference = fmt.Sprint(w.group), percent(anonymous, w.group)
			groupHolds = within(anonymous, w.group)
		}
		said := "reached"
		switch {
		case w.resident < leastJudged:
			said = "not judged, below 200 MB"
		case !within(anonymous, w.anonymous) || !groupHolds:
			said = "missed"
		}
		fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %d | %s | %s | %s | %s |\n", j.name(), j.memoryBatch, w.resident, w.files, anonymous,
			w.anonymous, percent(anonymous, w.anonymous), group, groupDifference, said)
	}
	fmt.Fprintln(out)
	for i, j := range list {
		if w := rows[i]; w.allocated > 0 {
			fmt.Fprintf(out, "%s: torch's allocator gave out %d B at its peak, and the process's resident set grew by %d B in the trial (%s).\n",
				j.name(), w.allocated, w.resident-w.baseline, percent(w.allocated, w.resident-w.baseline))
		}
	}
	return nil
}

// watched is what was reported of a worker's memory and what was seen from outside, in bytes.
type watched struct {
	resident, allocated int64 // reported peaks; allocated 0: the engine has no such counter
	baseline            int64 // reported resident set when the trial began
	seen
	group        int64  // high-water mark of the control group
	groupRefused string // why there is none; empty: there is one
}

// seen are figures of /proc/PID/status.
type seen struct {
	anonymous int64 // the highest RssAnon
	files     int64 // RssFile and RssShmem beside it
}

// watch runs the trial in a control group of its own while its memory is sampled.
func watch(j job) (watched, error) {
	limit := ""
	if j.choice.Engine == workloads.PyTorch {
		limit = "none" // the counter of the allocator's bytes is that without a limit
	}
	plan, workload, err := prepare(j, j.memoryBatch, limit)
	if err != nil {
		return watched{}, err
	}
	dir, err := os.MkdirTemp("", "witness")
	if err != nil {
		return watched{}, err
	}
	defer os.RemoveAll(dir)
	group, refused := newGroup()
	if refused == nil {
		defer os.Remove(group.folder)
	}
	if err := insideGroup(&workload, group, dir); err != nil {
		return watched{}, err
	}
	samples := make(chan seen)
	stop := make(chan struct{})
	go func() { samples <- sample(filepath.Join(dir, "pid"), stop) }()
	trial, _, err := soak(plan, workload)
	close(stop)
	w := watched{
		resident: trial.Memory.Peak[protocol.Resident], allocated: trial.Memory.Peak[protocol.Allocated],
		baseline: trial.Memory.Baseline[protocol.Resident], seen: <-samples,
	}
	if err != nil {
		return w, err
	}
	if refused == nil {
		w.group, refused = group.peak()
	}
	if refused != nil {
		w.groupRefused = refused.Error()
	}
	return w, nil
}

// insideGroup makes the workload start its worker by this program, which enters the group and notes its process.
func insideGroup(w *harness.Workload, g group, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	before := []string{self, enterCommand, g.processes(), filepath.Join(dir, "pid")}
	prepare, command := w.Prepare, w.Command
	w.Prepare = func(folder string) ([]string, error) {
		if prepare == nil {
			return append(before, command...), nil
		}
		inner, err := prepare(folder)
		return append(before, inner...), err
	}
	return nil
}

// enter writes this process into a control group (where the first argument names one) and its number into a file, and
// becomes the program of the other arguments. The mark of the group begins anew: a run has more than one worker, and the last is looked at.
func enter(arguments []string) error {
	if len(arguments) < 3 {
		return errors.New("enter takes a group, a file and a command")
	}
	own := strconv.Itoa(os.Getpid())
	if processes := arguments[0]; processes != "" {
		if err := os.WriteFile(processes, []byte(own), 0); err != nil {
			return err
		}
		_ = os.WriteFile(filepath.Join(filepath.Dir(processes), highWaterV1), []byte("0"), 0) // version 2 has no such file, or is new enough to take it
	}
	if err := os.WriteFile(arguments[1], []byte(own), 0o644); err != nil {
		return err
	}
	return syscall.Exec(arguments[2], arguments[2:], os.Environ())
}

// sample looks at the process whose number is in the file, the last one that was written there, until told to stop, and
// once at least.
func sample(file string, stop <-chan struct{}) seen {
	var highest seen
	process := ""
	for {
		if number, err := os.ReadFile(file); err == nil {
			if string(number) != process {
				process, highest = string(number), seen{}
			}
			if now, err := status(process); err == nil && now.anonymous > highest.anonymous {
				highest = now
			}
		}
		select {
		case <-stop:
			return highest
		case <-time.After(sampleEvery):
		}
	}
}

// status reads RssAnon, and RssFile with RssShmem, of a process.
func status(process string) (seen, error) {
	file, err := os.Open("/proc/" + process + "/status")
	if err != nil {
		return seen{}, err
	}
	defer file.Close()
	var now seen
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		kilobytes, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "RssAnon":
			now.anonymous = kilobytes << 10
		case "RssFile", "RssShmem":
			now.files += kilobytes << 10
		}
	}
	return now, nil
}

func within(a, b int64) bool {
	difference := float64(a)/float64(b) - 1
	return difference <= memoryGoal && difference >= -memoryGoal
}

func percent(a, b int64) string { return fmt.Sprintf("%+.1f%%", 100*(float64(a)/float64(b)-1)) }
