package tuner

import (
	"math"

	"autotune/tuner/stats"
)

// Throughput is the samples of an optimizer step over the median of the timed
// steps, in samples/s, with the interval of that median. It is zero where no step was timed.
func (t Trial) Throughput() stats.Interval {
	return throughputOf(t.Config, soundSeconds(t.StepSeconds))
}

// throughputOf is Throughput of a configuration's step times.
func throughputOf(c Config, seconds []float64) stats.Interval {
	median, err := stats.MedianInterval(seconds)
	if err != nil { // there are none
		return stats.Interval{}
	}
	samples := float64(c.Samples())
	return stats.Interval{Median: samples / median.Median, Low: samples / median.High, High: samples / median.Low}
}

// soundSeconds gives the times that are finite and above 0.
func soundSeconds(seconds []float64) []float64 {
	var sound []float64
	for _, s := range seconds {
		if s > 0 && !math.IsInf(s, 1) {
			sound = append(sound, s)
		}
	}
	return sound
}

// sampleRate is the median of a trial's throughput; 0: no step was timed.
func sampleRate(t Trial) float64 { return t.Throughput().Median }

// secondsOf gives the step times of trials together.
func secondsOf(trials []Trial) []float64 {
	var seconds []float64
	for _, t := range trials {
		seconds = append(seconds, t.StepSeconds...)
	}
	return seconds
}
