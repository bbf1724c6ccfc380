package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"autotune/harness"
	"autotune/reports"
	"autotune/workloads"
)

// runFlags are what the commands that begin a run have in common.
type runFlags struct {
	settings    harness.Settings
	out, config string
	output      outputFlags
}

// trainingCommand makes cmd, which has its help, a command that begins a run.
func trainingCommand(s streams, name string, execute runner, cmd *cobra.Command) *cobra.Command {
	r := &runFlags{settings: defaultSettings(name)}
	cmd.Args = noArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return r.begin(s, cmd, execute) }
	r.add(cmd)
	return cmd
}

// add adds the flags of the command.
func (r *runFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	addTrainingFlags(f, &r.settings)
	if r.settings.Command == harness.CommandTune {
		addSearchFlags(f, &r.settings)
	} else {
		f.Var(count{&r.settings.Repeat, 1}, "repeat", "`N` fresh workers that measure each configuration")
	}
	addRunFlags(f, &r.out, &r.config)
	r.output.add(f)
}

// begin reads the file of settings, plans the run and makes it with execute.
func (r *runFlags) begin(s streams, cmd *cobra.Command, execute runner) error {
	if r.config != "" {
		if err := applyConfig(r.config, cmd.Flags()); err != nil {
			return err
		}
	}
	if err := r.output.check(); err != nil {
		return err
	}
	if r.settings.Model == "" {
		return usagef("no model is named; give one, such as autotune %s--model resnet (autotune models lists them)", commandPrefix(cmd))
	}
	workload, err := resolve(r.settings)
	if err != nil {
		return err
	}
	plan, err := harness.NewPlan(r.settings, workload, harness.ReadEnvironment())
	if err != nil {
		return err
	}
	if r.out == "" {
		r.out = newFolder(workload.Model, time.Now())
	}
	return r.output.runAndShow(s, execute, harness.Options{Dir: r.out, Plan: plan, Workload: workload})
}

// commandPrefix is what stands between the program's name and the flags: nothing for tune.
func commandPrefix(cmd *cobra.Command) string {
	if cmd.Name() == harness.CommandTune {
		return ""
	}
	return cmd.Name() + " "
}

// resolve gives the workload that settings ask for. It may start Python, which a signal ends.
func resolve(s harness.Settings) (harness.Workload, error) {
	ctx, stop := interruptible(func() {})
	defer stop()
	w, err := workloads.Resolve(ctx, workloads.Choice{
		Model: s.Model, Options: s.Set, Input: s.Input, Classes: s.Classes,
		Engine: s.Engine, Python: s.Python, Device: s.Device, Precisions: s.Precision,
	})
	if ctx.Err() != nil {
		return w, &failure{code: harness.ExitInterruption, text: "interrupted before the first trial; nothing was run"}
	}
	return w, err
}

// runner is harness.Tune, harness.Bench or harness.Resume.
type runner func(context.Context, harness.Options) (*harness.Run, error)

// runAndShow makes the run, shows its progress, and writes and shows what came
// of it, the trials of a run without an answer too.
func (o *outputFlags) runAndShow(s streams, execute runner, options harness.Options) error {
	end := func() {}
	if !o.quiet {
		shown := newEvents(s.err, o.verbose)
		options.Events, end = shown, shown.close
	}
	ctx, stop := interruptible(func() { sayResume(s, options.Dir) })
	run, err := execute(ctx, options)
	stop()
	end()
	if errors.Is(err, harness.ErrInterrupted) {
		return o.interrupted(s, options.Dir)
	}
	if run == nil || len(run.Trials) == 0 {
		return err
	}
	if shown := o.show(s, run); err == nil {
		err = shown
	}
	return err
}

// interrupted ends with the command that goes on with the run as the last line.
func (o *outputFlags) interrupted(s streams, dir string) error {
	sayResume(s, dir)
	return &failure{code: harness.ExitInterruption}
}

// sayResume says how to go on with a run that was stopped.
func sayResume(s streams, dir string) {
	say(s.err, "autotune: interrupted; every finished trial is kept, and this goes on from there:")
	say(s.err, "autotune resume "+shellWord(dir))
}

// show writes the run's files and prints what they say, also where they cannot be written.
func (o *outputFlags) show(s streams, run *harness.Run) error {
	report, err := reports.New(run)
	if err != nil {
		return err
	}
	unwritten := report.WriteAll()
	if unwritten == nil && !o.quiet {
		say(s.err, wrapFor(s.err, fmt.Sprintf("written to %s: the journal, report.html and figures (autotune report %s makes them again)",
			run.Dir, shellWord(run.Dir))))
	}
	if err := o.print(s, report); err != nil {
		return err
	}
	if unwritten != nil {
		return fmt.Errorf("%w: the journal has everything; mend that, then: autotune report %s", unwritten, shellWord(run.Dir))
	}
	return nil
}

// print prints what a run came to.
func (o *outputFlags) print(s streams, report reports.Report) error {
	if o.json {
		return o.printJSON(s, report)
	}
	if err := report.Table(s.out); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(s.out); err != nil {
		return err
	}
	return report.Summary(s.out)
}

// printJSON prints the answer; a search without one prints nothing.
func (o *outputFlags) printJSON(s streams, report reports.Report) error {
	data, err := report.JSON()
	if err != nil {
		return err
	}
	_, err = s.out.Write(data)
	return err
}
