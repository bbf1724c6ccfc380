package reports

import (
	"fmt"
	"os"
	"path/filepath"

	"autotune/harness"
)

// WriteAll writes everything that is made from the journal into the run's
// folder: recommended.json (where a search came to an answer), trials.csv,
// figures/*.png and report.html. Each file is replaced whole or not at all; an
// error names the file.
func WriteAll(run *harness.Run) error {
	if err := os.MkdirAll(filepath.Join(run.Dir, "figures"), 0o755); err != nil {
		return err
	}
	d, err := digestOf(run)
	if err != nil {
		return err
	}
	drawings, err := figures(d)
	if err != nil {
		return err
	}
	type output struct {
		name string
		make func() ([]byte, error)
	}
	outputs := []output{{"trials.csv", d.trialsCSV}}
	if run.Recommendation != nil {
		outputs = append(outputs, output{"recommended.json", func() ([]byte, error) { return JSON(run) }})
	}
	for _, f := range drawings {
		outputs = append(outputs, output{filepath.Join("figures", f.Name+".png"), f.PNG})
	}
	outputs = append(outputs, output{"report.html", func() ([]byte, error) { return page(d, drawings) }})
	for _, o := range outputs {
		path := filepath.Join(run.Dir, o.name)
		data, err := o.make()
		if err != nil {
			return fmt.Errorf("making %s: %w", path, err)
		}
		if err := replaceFile(path, data); err != nil {
			return fmt.Errorf("writing %s: %w", path, err)
		}
	}
	return nil
}
