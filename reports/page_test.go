package reports_test

import (
	"regexp"
	"strings"
	"testing"

	"autotune/reports"
)

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := reports.Page(load(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestPageLinksLead follows every link within the page.
func TestPageLinksLead(t *testing.T) {
	for _, name := range []string{"tune", "bench", "pytorch"} {
		text := page(t, name)
		ids := map[string]int{}
		for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(text, -1) {
			if ids[m[1]]++; ids[m[1]] > 1 {
				t.Errorf("%s: id %s is given twice", name, m[1])
			}
		}
		links := regexp.MustCompile(` href="#([^"]+)"`).FindAllStringSubmatch(text, -1)
		for _, m := range links {
			if ids[m[1]] == 0 {
				t.Errorf("%s: link to #%s leads nowhere", name, m[1])
			}
		}
		if len(links) < 8 {
			t.Errorf("%s: only %d links to trials", name, len(links))
		}
	}
}

func TestPageHasWhatItNeeds(t *testing.T) {
	text := page(t, "tune")
	for _, want := range []string{
		`<html lang="en">`, "<title>autotune: resnet20 on cpu</title>", "<caption>", `scope="col"`, `scope="row"`,
		"prefers-color-scheme: dark", "batch_size=32", "accumulation_steps = 4", "index out of range [64] with length 64",
		"logs/trial-10.log", "AMD EPYC 9B14", "Stopped by", "resident",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if strings.Contains(text, "<button") {
		t.Error("the page has a button that does nothing without its script")
	}
	if address := regexp.MustCompile(`(?i)(src|href)="?(https?:)?//[^"]*|@import|url\(`).FindString(text); address != "" {
		t.Errorf("the page loads %s", address)
	}
}

func TestPageEscapesWhatProgramsPrint(t *testing.T) {
	run := load(t, "tune")
	run.Trials[9].Failure.Text = `</code></pre><script>alert("trial 1")</script>`
	run.Recommendation.Reason = `<img src=x onerror=alert(1)> as in trial 5`
	run.Recommendation.Notes = []string{"see trial 99"}
	data, err := reports.Page(run)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if strings.Contains(text, "<script>alert") || strings.Contains(text, "<img") {
		t.Error("the page runs what a program printed")
	}
	if !strings.Contains(text, `as in <a href="#trial-5">trial 5</a>`) {
		t.Error("a mention of a trial is no link")
	}
	if strings.Contains(text, "#trial-99") {
		t.Error("a trial that is not listed is linked")
	}
}

// TestPageShowsWhatProgramsPrint gives a failure a text that is long and steers terminals.
func TestPageShowsWhatProgramsPrint(t *testing.T) {
	run := load(t, "tune")
	run.Trials[9].Failure.Text = "first\r\n\x1b[31mred\x1b[0m \u202eback\x00" + strings.Repeat("é", 1<<20) + "\nlast"
	data, err := reports.Page(run)
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexAny(string(data), "\r\x1b\x00\u202e"); i >= 0 {
		t.Errorf("the page has the character %q", data[i:i+3])
	}
	for _, want := range []string{"first\n", "[31mred", "characters left out", "\nlast"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if len(data) > 200<<10 {
		t.Errorf("the page has %d bytes", len(data))
	}
}

func TestPageOfABenchSaysHowManyRan(t *testing.T) {
	if text := page(t, "bench"); !strings.Contains(text, "6 of 8 configurations ran") {
		t.Error("the page does not say how many configurations ran")
	}
	run := load(t, "bench")
	run.Trials = run.Trials[:1]
	data, err := reports.Page(run)
	if err != nil || !strings.Contains(string(data), "1 of 1 configuration ran") {
		t.Errorf("one configuration: %v", err)
	}
}
