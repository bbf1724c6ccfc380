package reports

import (
	"fmt"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/tuner"
)

// observations are what the run saw of the device's memory and of skipped steps
// beside its answer, a line each; none where there was nothing.
func (d *digest) observations() []finding {
	var list []finding
	for _, f := range []finding{
		{"Retries", d.retriesText()}, {"Fragmented", d.fragmentedText()}, {"In use", d.othersText()}, {"Skipped", d.skippedText()},
		{"Doubtful", d.doubtsText()},
	} {
		if f.Text != "" {
			list = append(list, f)
		}
	}
	return list
}

// doubtsText is the first warning of a bench's repeats, and how many others have one. Those that bear on a
// recommendation are among its notes.
func (d *digest) doubtsText() string {
	if d.Header.Settings.Command != harness.CommandBench {
		return ""
	}
	first, trials := "", 0
	for _, r := range d.results {
		if len(r.Warnings) > 0 {
			if trials++; trials == 1 {
				first = fmt.Sprintf("trial %d (%s): %s", r.Number, r.Config, r.Warnings[0])
			}
		}
	}
	return first + others(trials)
}

// maxReasons is the most reasons of failures that the answer tells.
const maxReasons = 3

// failures say why trials failed otherwise than for want of memory, in the program's own words, each reason once.
func (d *digest) failures() []finding {
	var list []finding
	told := map[string]bool{}
	for _, r := range d.results {
		reason := r.shortReason()
		if (r.Status != tuner.Crashed && r.Status != tuner.Invalid) || told[reason] || len(list) == maxReasons {
			continue
		}
		told[reason] = true
		list = append(list, finding{"Failed", fmt.Sprintf("trial %d (%s), %s: %s", r.Number, r.Config, r.Status, reason)})
	}
	return list
}

// greatest is the trial with the most of something, the first of equals, its amount, and how
// many trials have any; 0: none has.
func (d *digest) greatest(amount func(*harness.TrialRecord) int64) (trial result, most int64, trials int) {
	for _, r := range d.results {
		n := amount(r.Record)
		if n > 0 {
			trials++
		}
		if n > most {
			trial, most = r, n
		}
	}
	return trial, most, trials
}

// others says how many trials but the one named it holds for.
func others(trials int) string {
	if trials < 2 {
		return ""
	}
	return fmt.Sprintf(", and in %d other %s", trials-1, plural(trials-1, "trial"))
}

// retriesText says in which trials the allocator ran short and went on.
func (d *digest) retriesText() string {
	r, most, trials := d.greatest(func(t *harness.TrialRecord) int64 { return t.Memory.AllocatorRetries })
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("the allocator gave its cache back to the device and asked again, %d %s in trial %d (%s)%s: memory was nearly full there, and each time costs speed",
		most, plural(int(most), "time"), r.Number, r.Config, others(trials))
}

// skippedText says in which trials steps changed no weight.
func (d *digest) skippedText() string {
	r, most, trials := d.greatest(func(t *harness.TrialRecord) int64 { return int64(t.SkippedSteps) })
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d optimizer steps changed no weight in trial %d (%s)%s: a gradient was not finite in fp16, and the scaler lowered its scale",
		most, len(r.Record.Samples), r.Number, r.Config, others(trials))
}

// othersText says how much of the device other processes held.
func (d *digest) othersText() string {
	r, most, _ := d.greatest(func(t *harness.TrialRecord) int64 { return t.Memory.Peak[protocol.OtherProcesses] })
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("other processes held up to %s of the device's memory (trial %d)", harness.FormatBytes(most), r.Number)
}

// Where the allocator reserved this many times what it gave out, and this many bytes more, memory is called fragmented.
const (
	fragmentedRatio = 1.25
	fragmentedBytes = 64 << 20
)

// fragmentedText says where the allocator held much more than it gave out.
func (d *digest) fragmentedText() string {
	r, idle, trials := d.greatest(idleBytes)
	if idle == 0 {
		return ""
	}
	peak := r.Record.Memory.Peak
	return fmt.Sprintf("at their peaks the allocator had %s reserved and %s given out in trial %d (%s)%s: the rest lay in blocks that did not suit",
		harness.FormatBytes(peak[protocol.Reserved]), harness.FormatBytes(peak[protocol.Allocated]), r.Number, r.Config, others(trials))
}

// idleBytes is by how much the peak of what the allocator reserved is above that of
// what it gave out, where that is far; 0: it is not, or not known.
func idleBytes(t *harness.TrialRecord) int64 {
	allocated, reserved := t.Memory.Peak[protocol.Allocated], t.Memory.Peak[protocol.Reserved]
	idle := reserved - allocated
	if allocated == 0 || float64(reserved) < fragmentedRatio*float64(allocated) || idle < fragmentedBytes {
		return 0
	}
	return idle
}
