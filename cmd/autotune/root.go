package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"autotune/workloads/model"
	"autotune/workloads/nearest"
	"autotune/workloads/pytorch"
)

const rootHelp = `autotune finds, by real training steps on this machine, the micro-batch, the
accumulation steps and the precision to train a model with, and proves them.

autotune --model NAME is short for autotune tune --model NAME.`

const rootExamples = `  autotune --model resnet                        find and prove the settings
  autotune --model mlp --memory-limit 512MiB     the same under another limit
  autotune bench --model mlp --batch 64,128      measure two sizes, no search
  autotune models                                what can be trained
  autotune devices                               and on what
  autotune tune --help                           every flag of a search`

// rootCommand is the command with all its subcommands.
func rootCommand(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "autotune",
		Short:         "Find and prove the settings to train a model with",
		Long:          rootHelp,
		Example:       rootExamples,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", helpWidth)))
	root.SetVersionTemplate("autotune {{.Version}}\n")
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(tuneCommand(s), benchCommand(s), resumeCommand(s), reportCommand(s),
		checkCommand(s), predictCommand(s), modelsCommand(s), devicesCommand(s), workerCommand())
	root.InitDefaultHelpCmd()
	knownTopic(root)
	root.InitDefaultCompletionCmd()
	return root
}

// knownTopic makes help refuse a subcommand that does not exist.
func knownTopic(root *cobra.Command) {
	for _, help := range root.Commands() {
		if help.Name() == "help" {
			help.Args = func(_ *cobra.Command, args []string) error {
				if topic, _, err := root.Find(args); topic == nil || err != nil || len(args) > 0 && topic == root {
					return usagef("unknown subcommand %q; autotune --help lists the subcommands", strings.Join(args, " "))
				}
				return nil
			}
		}
	}
}

// chooseCommand puts the default subcommand, tune, before arguments that begin
// with one of its flags, and refuses a subcommand that does not exist.
func chooseCommand(root *cobra.Command, args []string) ([]string, error) {
	if len(args) == 0 {
		return []string{"tune"}, nil
	}
	first := args[0]
	switch first {
	case "-h", "--help", "-v", "--version", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
		return args, nil
	}
	if strings.HasPrefix(first, "-") {
		return append([]string{"tune"}, args...), nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.Name() == first {
			return args, nil
		}
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	if _, err := model.Resolve(first, "cpu"); err == nil || pytorch.Names(first) {
		return nil, usagef("unknown subcommand %q; did you mean autotune --model %s?", first, first)
	}
	return nil, usagef("unknown subcommand %q; autotune --help lists the subcommands%s", first, nearest.Question(first, names, ""))
}

// flagError says which flag is wrong and what to write instead.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	help := cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return usagef("unknown flag -%s; %s lists the flags", unknown.GetSpecifiedShortnames(), help)
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		return usagef("unknown flag --%s; %s lists the flags%s", name, help, nearest.Question(name, flagNames(cmd.Flags()), "--"))
	case errors.As(err, &invalid):
		return usagef("--%s %s: %v", invalid.GetFlag().Name, shellWord(invalid.GetValue()), plainError(invalid.GetFlag(), errors.Unwrap(invalid)))
	case errors.As(err, &missing):
		return usagef("--%s needs a value; %s explains it", missing.GetSpecifiedName(), help)
	}
	return usagef("%v; %s lists the flags", err, help)
}

// plainError is why a flag refuses a value; of a switch, whose own words are those of a programmer, in plain words.
func plainError(flag *pflag.Flag, err error) error {
	if flag.Value.Type() == "bool" {
		return errors.New("neither true nor false")
	}
	return err
}

// noArguments refuses arguments that are not flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q; a subcommand comes first and everything else is a flag: see %s --help", args[0], cmd.CommandPath())
	}
	return nil
}

// oneRun allows at most one argument, a run.
func oneRun(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("%d runs given, %s takes one: see %s --help", len(args), cmd.Name(), cmd.CommandPath())
	}
	return nil
}

// flagNames are the names of the flags that a person may use.
func flagNames(flags *pflag.FlagSet) []string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}
