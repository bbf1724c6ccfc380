package reports_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autotune/harness"
)

func TestJSON(t *testing.T) {
	for _, name := range []string{"tune", "bench"} {
		got, err := of(t, load(t, name)).JSON()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+"/output.json", string(got))
	}
}

func TestWriteAll(t *testing.T) {
	run := load(t, "tune")
	run.Dir = t.TempDir()
	for range 2 { // the second time over the files of the first
		if err := of(t, run).WriteAll(); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(run.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var r harness.Recommendation
	if err := json.Unmarshal(read("recommended.json"), &r); err != nil || r.MicroBatch != run.Recommendation.MicroBatch {
		t.Errorf("recommended.json: %+v, %v", r, err)
	}
	rows, err := csv.NewReader(bytes.NewReader(read("trials.csv"))).ReadAll()
	if err != nil || len(rows) != 1+len(run.Trials) {
		t.Errorf("trials.csv: %d rows, %v", len(rows), err)
	}
	if page := read("report.html"); !bytes.HasPrefix(page, []byte("<!DOCTYPE html>")) {
		t.Errorf("report.html begins %.40q", page)
	}
	for _, name := range []string{"throughput", "memory", "step-time"} {
		if _, err := png.Decode(bytes.NewReader(read("figures/" + name + ".png"))); err != nil {
			t.Errorf("figures/%s.png: %v", name, err)
		}
	}
	entries, err := os.ReadDir(run.Dir)
	if err != nil || len(entries) != 4 {
		t.Errorf("folder has %v, %v", entries, err)
	}
}

func TestWriteAllNamesTheFile(t *testing.T) {
	run := load(t, "bench")
	run.Dir = t.TempDir()
	blocked := filepath.Join(run.Dir, "report.html")
	if err := os.MkdirAll(filepath.Join(blocked, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := of(t, run).WriteAll(); err == nil || !strings.Contains(err.Error(), blocked) {
		t.Errorf("error %v does not name %s", err, blocked)
	}
}

func TestTrialsCSV(t *testing.T) {
	run := load(t, "tune")
	run.Dir = t.TempDir()
	if err := of(t, run).WriteAll(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(run.Dir, "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "tune/trials.csv", string(data))
}
