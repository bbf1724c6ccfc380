// Command autotune finds, by real training steps, the micro-batch, the
// accumulation steps and the precision to train a model with, and proves them.
//
// The path of `autotune --model resnet`:
//
//  1. arguments and the YAML file become harness.Settings (flags.go, config.go);
//  2. workloads.Resolve gives the workload, harness.Plan the space and the limits;
//  3. harness.Tune runs the trials in worker processes and keeps the journal (tune.go);
//  4. reports shows what the journal holds (output.go).
//
// Each subcommand has a file of its own.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	survivePipes()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole command: arguments without the program's name, and the
// streams. It returns the exit code (see exit.go).
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := streams{in: stdin, out: stdout, err: stderr}
	root := rootCommand(s)
	args, err := chooseCommand(root, args)
	if err == nil {
		root.SetArgs(args)
		err = root.Execute()
	}
	return finish(stderr, err)
}

// say writes a line for people on stderr. That it could not be written has
// nowhere to be said, and ends no run.
func say(stderr io.Writer, line string) { _, _ = fmt.Fprintln(stderr, line) }

// streams are the standard streams of one call of the command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}
