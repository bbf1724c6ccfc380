package tuner_test

import (
	"testing"

	"autotune/tuner"
	"autotune/workloads/simulated"
)

// The cost of choosing all trials of a search, with 65,536 sizes.
func BenchmarkSearch(b *testing.B) {
	for _, objective := range []tuner.Objective{tuner.Batch, tuner.Throughput, tuner.Memory} {
		b.Run(string(objective), func(b *testing.B) {
			device, err := simulated.NewDevice(40, simulated.Options{})
			if err != nil {
				b.Fatal(err)
			}
			trials := 0
			for b.Loop() {
				s := search{space: oneSet(65536), goal: tuner.Goal{Objective: objective, LimitBytes: device.Limit(), SoakSteps: 5}, run: device.Run}
				trials += len(s.finish(b).trials)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(trials), "µs/trial")
		})
	}
}
