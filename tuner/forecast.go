package tuner

// Forecast is what an engine says of a set's memory without running it.
type Forecast struct {
	Set
	// Accumulation is 1, or 2 for any number of steps from 2 on.
	Accumulation int `json:"accumulation_steps"`
	// Lines say the peak of every size: it is that of the highest line there. Empty:
	// it could not be predicted, and is not asked for again.
	Lines []ForecastLine `json:"lines"`
	// RoomBytes is how much memory there is, where no limit is set; 0: not known.
	RoomBytes int64 `json:"room_bytes,omitempty"`
}

// ForecastLine is memory as a straight line over the micro-batch, in bytes.
type ForecastLine struct {
	Fixed     float64 `json:"fixed_bytes"`
	PerSample float64 `json:"bytes_per_sample"`
}

// Peak is the predicted peak of a size, in bytes; 0: not predicted.
func (f Forecast) Peak(size int) float64 {
	peak := 0.0
	for _, l := range f.Lines {
		peak = max(peak, l.Fixed+l.PerSample*float64(size))
	}
	return peak
}
