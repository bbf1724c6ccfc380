package harness_test

import (
	"testing"

	"autotune/harness"
	"autotune/tuner"
)

func TestGrowthPastTheLimitIsStopped(t *testing.T) {
	run, r := one(t, "grow", benchSettings("8"))
	if run.Judged()[0].Status != tuner.OOM || r.Failure == nil || r.Failure.Type != harness.FailureOverLimit || r.SeenPeakBytes < 125*MB {
		t.Errorf("failure %+v, seen %d", r.Failure, r.SeenPeakBytes)
	}
	s := benchSettings("8")
	s.MemoryLimit, s.TrialTimeout = "none", 1
	if run, _ := one(t, "grow", s); run.Judged()[0].Status != tuner.Timeout {
		t.Errorf("without a limit: %+v", run.Judged()[0])
	}
}
