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
func (r Report) JSON() ([]byte, error) {
	if isBench(r.Run) {
		return indented(benchResults(r.digest))
	}
	if r.Recommendation == nil {
		return nil, &harness.ExitError{Kind: harness.ErrFailed, Err: fmt.Errorf(
			"%s has no recommendation: its search came to no answer; autotune resume goes on with a search that was stopped", r.Dir)}
	}
	return indented(r.Recommendation)
}

func indented(v any) ([]byte, error) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}
