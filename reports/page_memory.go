package reports

// pageMemory is the table of every counter, shown where a run has more than the one
// that the limit holds.
type pageMemory struct {
	Unit     string // of the counters
	TimeUnit string // of a step's time
	Counters []counter
	Device   bool // the device's own clock is known
	Retries  bool // a trial has any
	Skipped  bool
	Rows     []pageMemoryRow
}

// pageMemoryRow is one trial; the cells are in the units of the table.
type pageMemoryRow struct {
	result
	Peaks          []string // in the order of the counters
	Step, OnDevice string   // median time of a step by the worker's clock and by the device's
}

// newPageMemory is the table, or nil where there is no more to tell than the table of trials does.
func newPageMemory(d *digest) *pageMemory {
	m := &pageMemory{Counters: countersSeen(d.results)}
	var largest int64
	slowest := 0.0
	for _, r := range d.results {
		for _, c := range m.Counters {
			largest = max(largest, r.Record.Memory.Peak[c.Name])
		}
		slowest = max(slowest, medianOf(r.StepSeconds))
		m.Device = m.Device || len(r.Record.DeviceSeconds) > 0
		m.Retries = m.Retries || r.Record.Memory.AllocatorRetries > 0
		m.Skipped = m.Skipped || r.Record.SkippedSteps > 0
	}
	if len(m.Counters) < 2 && !m.Device && !m.Retries && !m.Skipped {
		return nil
	}
	u, t := unitFor(byteUnits, float64(largest)), unitFor(timeUnits, slowest)
	m.Unit, m.TimeUnit = u.name, t.name
	for _, r := range d.results {
		row := pageMemoryRow{result: r, Step: valueOrDash(t, medianOf(r.StepSeconds)), OnDevice: valueOrDash(t, medianOf(r.Record.DeviceSeconds))}
		for _, c := range m.Counters {
			row.Peaks = append(row.Peaks, peakText(u, r.Record.Memory.Peak[c.Name]))
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
