package harness_test

import (
	"path/filepath"
	"strings"
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

// TestWithoutALimitTheWorkerDiesFirst reads what a worker's score for the kernel's out-of-memory killer is.
func TestWithoutALimitTheWorkerDiesFirst(t *testing.T) {
	s := benchSettings("8")
	s.MemoryLimit = "none"
	run, _ := one(t, "score", s)
	if log := readFile(t, filepath.Join(run.Dir, "logs", "trial-1.log")); !strings.Contains(log, "score 1000") {
		t.Errorf("the log holds %q", log)
	}
	run, _ = one(t, "score", benchSettings("8"))
	if log := readFile(t, filepath.Join(run.Dir, "logs", "trial-1.log")); strings.Contains(log, "score 1000") {
		t.Errorf("with a limit, the log holds %q", log)
	}
}

// TestMemoryOfTheWholeGroupCounts has a worker that stays small and a child of it that grows.
func TestMemoryOfTheWholeGroupCounts(t *testing.T) {
	run, r := one(t, "grow-child", benchSettings("8"))
	if run.Judged()[0].Status != tuner.OOM || r.Failure.Type != harness.FailureOverLimit {
		t.Errorf("failure %+v, seen %d", r.Failure, r.SeenPeakBytes)
	}
}
