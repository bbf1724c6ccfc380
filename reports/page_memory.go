package reports

// pageMemory is the table of every counter, shown where a run has more than the one
// that the limit holds.
type pageMemory struct {
	TimeUnit string // of a step's time
	Counters []pageCounter
	Device   bool // the device's own clock is known
	Retries  bool // a trial has any
	Skipped  bool
	Rows     []pageMemoryRow
}

// pageCounter is a column of the table.
type pageCounter struct {
	counter
	Unit string
}

// pageMemoryRow is one trial; the cells are in the units of their columns.
type pageMemoryRow struct {
	result
	Peaks          []string // in the order of the counters
	Step, OnDevice string   // median time of a step by the worker's clock and by the device's
}

// newPageMemory is the table, or nil where there is no more to tell than the table of trials does.
func newPageMemory(d *digest) *pageMemory {
	m := &pageMemory{}
	seen := countersSeen(d.results)
	largest := make([]int64, len(seen))
	slowest := 0.0
	for _, r := range d.results {
		for i, c := range seen {
			largest[i] = max(largest[i], r.Record.Memory.Peak[c.Name])
		}
		slowest = max(slowest, medianOf(r.StepSeconds))
		m.Device = m.Device || len(r.Record.DeviceSeconds) > 0
		m.Retries = m.Retries || r.Record.Memory.AllocatorRetries > 0
		m.Skipped = m.Skipped || r.Record.SkippedSteps > 0
	}
	if len(seen) < 2 && !m.Device && !m.Retries && !m.Skipped {
		return nil
	}
	units := make([]unit, len(seen))
	for i, c := range seen {
		units[i] = unitFor(byteUnits, float64(largest[i]))
		m.Counters = append(m.Counters, pageCounter{c, units[i].name})
	}
	t := unitFor(timeUnits, slowest)
	m.TimeUnit = t.name
	for _, r := range d.results {
		row := pageMemoryRow{result: r, Step: valueOrDash(t, medianOf(r.StepSeconds)), OnDevice: valueOrDash(t, medianOf(r.Record.DeviceSeconds))}
		for i, c := range seen {
			row.Peaks = append(row.Peaks, peakText(units[i], r.Record.Memory.Peak[c.Name]))
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// valueOrDash is a value in a unit, or a dash where it is not known.
func valueOrDash(u unit, value float64) string {
	if value == 0 {
		return "-"
	}
	return u.text(value)
}
