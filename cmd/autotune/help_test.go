package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelpExamples holds that every command has examples and that each of them
// is a command line that this program reads.
func TestHelpExamples(t *testing.T) {
	for _, command := range rootCommand(streams{strings.NewReader(""), io.Discard, io.Discard}).Commands() {
		if command.Hidden || command.Name() == "help" || command.Name() == "completion" {
			continue
		}
		if command.Example == "" || command.Short == "" || command.Long == "" {
			t.Errorf("%s has no example or no help", command.Name())
		}
		for example := range strings.Lines(command.Example) {
			checkExample(t, example)
		}
	}
	for example := range strings.Lines(rootExamples) {
		line, _, _ := strings.Cut(strings.TrimSpace(example), "   ")
		checkExample(t, line)
	}
}

func checkExample(t *testing.T, example string) {
	t.Helper()
	words := strings.Fields(example)
	if len(words) < 2 || words[0] != "autotune" {
		t.Errorf("no command: %q", example)
		return
	}
	root := rootCommand(streams{strings.NewReader(""), io.Discard, io.Discard})
	args, err := chooseCommand(root, words[1:])
	if err != nil {
		t.Errorf("%s: %v", example, err)
		return
	}
	command, rest, err := root.Find(args)
	if err == nil {
		err = readFlags(command, rest)
	}
	if err != nil {
		t.Errorf("%s: %v", example, err)
	}
}

// readFlags reads the flags and checks the arguments, but runs nothing.
func readFlags(command *cobra.Command, args []string) error {
	command.InitDefaultHelpFlag()
	if err := command.ParseFlags(args); err != nil {
		return err
	}
	return command.ValidateArgs(command.Flags().Args())
}
