package reports

import (
	"fmt"
	"os"
	"path/filepath"
)

// WriteAll writes everything that is made from the journal into the run's
// folder: recommended.json (where a search came to an answer), trials.csv,
// figures/*.png and report.html, and of a bench its configurations as bench.txt (the Go
// benchmark format, for benchstat), bench.csv, bench.md and bench.json. Each file is replaced whole or not at all; an
// error names the file.
func (r Report) WriteAll() error {
	d := r.digest
	if err := os.MkdirAll(filepath.Join(d.Dir, "figures"), 0o755); err != nil {
		return err
	}
	drawings, err := figures(d)
	if err != nil {
		return err
	}
	outputs := append([]output{{"trials.csv", d.trialsCSV}}, d.answers()...)
	for _, f := range drawings {
		outputs = append(outputs, output{filepath.Join("figures", f.Name+".png"), f.PNG})
	}
	outputs = append(outputs, output{"report.html", func() ([]byte, error) { return page(d, drawings) }})
	for _, o := range outputs {
		path := filepath.Join(d.Dir, o.name)
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

// output is a file and what makes its content.
type output struct {
	name string
	make func() ([]byte, error)
}

// answers are the files with what the run came to.
func (d *digest) answers() []output {
	asJSON := Report{d}.JSON
	switch {
	case isBench(d.Run):
		return []output{{"bench.txt", d.benchText}, {"bench.csv", d.benchCSV}, {"bench.md", d.benchMarkdown}, {"bench.json", asJSON}}
	case d.Recommendation != nil:
		return []output{{"recommended.json", asJSON}}
	}
	return nil
}
