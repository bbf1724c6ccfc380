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
	for _, name := range []string{"tune", "bench"} {
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
