//go:build linux

// Scale measures what reports cost: journals of many trials, made by the simulated engine
// in this process, are given to `autotune report`, `autotune check` and `autotune
// resume`, and their wall time, processor time and highest resident set are printed.
//
//	go run ./scripts/scale --write
//	go run ./scripts/scale --trials 1000 --keep /tmp/journals
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"autotune/harness"
	"autotune/scripts/built"
	"autotune/scripts/marked"
)

func main() {
	trials := flag.String("trials", "1000,10000,100000", "`COUNTS` of trials")
	keep := flag.String("keep", "", "`FOLDER` that the runs are left in; without it they are removed")
	write := flag.Bool("write", false, "put the table into docs/measuring.md")
	flag.Parse()
	var table bytes.Buffer
	err := run(io.MultiWriter(os.Stdout, &table), strings.Split(*trials, ","), *keep)
	if err == nil && *write {
		err = marked.Put("docs/measuring.md", "scale", table.String())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, counts []string, dir string) error {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "scale"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	binary, err := built.Autotune(dir)
	if err != nil {
		return err
	}
	env := harness.ReadEnvironment()
	fmt.Fprintf(out, "Made by `go run ./scripts/scale` on %s with %s on %d cores of %s.\n\n", time.Now().UTC().Format(time.DateOnly), runtime.Version(), env.Cores, *env.CPUModel)
	fmt.Fprintln(out, "| trials | journal, bytes | command | wall, s | processor, s | highest resident set, bytes | page, bytes |")
	fmt.Fprintln(out, "| ---: | ---: | --- | ---: | ---: | ---: | ---: |")
	for _, text := range counts {
		count, err := strconv.Atoi(text)
		if err != nil || count < 1 {
			return fmt.Errorf("--trials: %q is no number of trials", text)
		}
		if err := measure(out, binary, dir, count); err != nil {
			return err
		}
	}
	return nil
}

// measure makes the runs of so many trials and prints a row for each command.
func measure(out io.Writer, binary, dir string, count int) error {
	at := func(name string) string { return filepath.Join(dir, fmt.Sprintf("%s-%d", name, count)) }
	tune, before, after := at("tune"), at("before"), at("after")
	size, err := writeTune(tune, count)
	if err != nil {
		return err
	}
	for seed, folder := range []string{before, after} {
		if _, err := writeBench(folder, count, uint64(seed)); err != nil {
			return err
		}
	}
	for _, c := range []struct{ arguments, page string }{
		{"report " + tune, filepath.Join(tune, "report.html")},
		{"report " + before, filepath.Join(before, "report.html")},
		{"check " + after + " --baseline " + before, ""},
		{"resume " + tune, ""},
	} {
		if err := row(out, binary, count, size, c.arguments, c.page); err != nil {
			return err
		}
	}
	return nil
}

// row runs one command and prints what it took.
func row(out io.Writer, binary string, count int, size int64, arguments, page string) error {
	words := strings.Fields(arguments)
	command := exec.Command(binary, words...)
	begun := time.Now()
	said, err := command.CombinedOutput()
	wall := time.Since(begun)
	var failed *exec.ExitError
	if errors.As(err, &failed) && failed.ExitCode() == 1 { // check found something
		err = nil
	}
	if err != nil {
		return fmt.Errorf("autotune %s: %w\n%s", arguments, err, said)
	}
	usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return errors.New("this system does not say what a process used")
	}
	processor := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	shown := "-"
	if info, err := os.Stat(page); err == nil {
		shown = fmt.Sprint(info.Size())
	}
	name := words[0]
	if strings.Contains(words[1], "before") {
		name += " (bench)"
	}
	_, err = fmt.Fprintf(out, "| %d | %d | %s | %.2f | %.2f | %d | %s |\n", count, size, name, wall.Seconds(), processor.Seconds(), usage.Maxrss<<10, shown)
	return err
}
