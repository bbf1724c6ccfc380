package reports

import (
	"encoding/json"
	"fmt"

	"autotune/harness"
)

// isBench says whether the run measured given configurations, without a search.
func isBench(run *harness.Run) bool { return run.Header.Settings.Command == harness.CommandBench }

// JSON is what --json prints, indented, with a newline at its end: the content
// of recommended.json, or for bench the list of BenchResult. Values are in base
// units. A search without an answer gives a *harness.ExitError of
// the kind harness.ErrFailed.
func JSON(run *harness.Run) ([]byte, error) {
	if isBench(run) {
		d, err := digestOf(run)
		if err != nil {
			return nil, err
		}
		return indented(benchResults(d))
	}
	if run.Recommendation == nil {
		return nil, &harness.ExitError{Kind: harness.ErrFailed, Err: fmt.Errorf(
			"%s has no recommendation: its search came to no answer; autotune resume goes on with a search that was stopped", run.Dir)}
	}
	return indented(run.Recommendation)
}

func indented(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}
