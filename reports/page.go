package reports

import (
	"bytes"
	"embed"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strconv"

	"autotune/harness"
	"autotune/tuner"
)

//go:embed page
var pageFiles embed.FS

var pageTemplate = template.Must(template.New("report.html").Funcs(template.FuncMap{
	"bytes": harness.FormatBytes, "seconds": secondsText, "figure": figure, "sentence": sentence, "excerpt": excerpt, "firstLine": headline, "isLong": isLong,
}).ParseFS(pageFiles, "page/*"))

// Page is report.html: one file that loads nothing, can be read without
// JavaScript, and follows the reader's colour scheme. Every figure in it names
// the trial that it comes from, and all trials are listed.
func Page(run *harness.Run) ([]byte, error) {
	d, err := digestOf(run)
	if err != nil {
		return nil, err
	}
	drawings, err := figures(d)
	if err != nil {
		return nil, err
	}
	return page(d, drawings)
}

func page(d *digest, drawings []*Figure) ([]byte, error) {
	view, err := newPageView(d, drawings)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&out, "report.html", view); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// pageView is what the page shows.
type pageView struct {
	Header         harness.Header
	Title          string
	Recommendation *harness.Recommendation
	Answer         string // the recommendation in a line, or that there is none
	Findings       []pageFinding
	Advice         []pageAdvice
	Snippet        string
	Figures        []pageFigure
	TrialsCut      string // how many of the trials are listed; empty: all are
	BenchCut       string // the same of the configurations of a bench
	Borders        []pageBorder
	Bench          []pageConfiguration
	Trials         []pageTrial
	Memory         *pageMemory // nil: the table of trials says it all
	Failures       []pageTrial
	Facts          []finding
	Settings       []finding
	RateUnit       string
	PeakUnit       string
	Counter        string // that the limit holds, in words
	Knobs          bool
	Limited        bool
}

// pageFinding is a finding with its trials linked.
type pageFinding struct {
	Name string
	Text template.HTML
}

// pageAdvice is an advice with its trials linked.
type pageAdvice struct {
	Text    template.HTML
	General bool
}

// pageFigure is a figure inlined.
type pageFigure struct {
	Name, Title, Caption string
	SVG                  template.HTML // empty: there is nothing in it, and the caption says why
}

// pageBorder is a border with the set's name.
type pageBorder struct {
	Set, Passes string
	tuner.Border
}

// pageTrial is a row of the table of trials. Cells are in the column's unit, the
// values beside them in base units, for sorting.
type pageTrial struct {
	result
	Rate, Peak, Headroom string
	HeadroomBytes        int64
	Log                  string
	Border, Chosen       bool
}

// pageConfiguration is a row of the table of a bench.
type pageConfiguration struct {
	configuration
	Rate, Peak, Spread, Status string
	PeakBytes                  int64
	SpreadValue                float64
}

func newPageView(d *digest, drawings []*Figure) (*pageView, error) {
	u, largest := peakUnit(d.results)
	if largest == 0 {
		u.name = "" // of nothing
	}
	v := &pageView{
		Header: d.Header, Recommendation: d.Recommendation,
		Title:    fmt.Sprintf("autotune: %s on %s", d.Header.Model, d.Header.Device),
		RateUnit: rateUnit(d.Header.Facts), PeakUnit: u.name, Knobs: hasKnobs(d.results), Counter: counterOf(d.Header.LimitOn).Noun, Limited: d.Header.LimitBytes != nil,
		Facts: runFacts(d.Run), Settings: runSettings(d.Run),
	}
	shown := d.cut(maxPageRows)
	v.Memory = newPageMemory(shown)
	v.addTrials(shown, u)
	v.TrialsCut = cutText(len(shown.results), len(d.results))
	v.addAnswer(d, trialLinker(shown.results))
	if isBench(d.Run) {
		v.addBench(d, u)
	}
	for _, f := range drawings {
		svg := ""
		if !f.Empty {
			var err error
			if svg, err = f.SVG(); err != nil {
				return nil, err
			}
		}
		v.Figures = append(v.Figures, pageFigure{f.Name, f.Title, f.Caption, template.HTML(svg)})
	}
	return v, nil
}

// addAnswer fills in the recommendation and what explains it.
func (v *pageView) addAnswer(d *digest, link func(string) template.HTML) {
	r := d.Recommendation
	if !isBench(d.Run) {
		for _, a := range d.advise() {
			v.Advice = append(v.Advice, pageAdvice{link(a.Text), a.General})
		}
	}
	switch {
	case isBench(d.Run):
		v.Answer = d.benchAnswer()
		v.addFindings(d.observations(), link)
	case r == nil:
		v.Answer = d.noAnswer()
		v.addFindings(append(d.failures(), d.observations()...), link)
	default:
		v.Answer = recommendationText(r)
		v.Snippet = PyTorchSnippet(r)
		v.addFindings(d.findings(), link)
		for _, b := range r.Largest {
			v.Borders = append(v.Borders, pageBorder{b.String(), passes(b.Accumulation), b})
		}
	}
}

func (v *pageView) addFindings(list []finding, link func(string) template.HTML) {
	for _, f := range list {
		v.Findings = append(v.Findings, pageFinding{f.Name, link(sentence(f.Text))})
	}
}

func (v *pageView) addTrials(d *digest, u unit) {
	border := d.borderTrials()
	for _, r := range d.results {
		t := pageTrial{
			result: r, Rate: "-", Peak: peakText(u, r.Seen), Headroom: "-",
			Log: fmt.Sprintf("logs/trial-%d.log", r.Number), Border: border[r.Number], Chosen: d.recommended(r.Config),
		}
		if r.Throughput.Median > 0 {
			t.Rate = intervalText(r.Throughput)
		}
		if limit := d.Header.LimitBytes; limit != nil && r.Seen > 0 {
			t.HeadroomBytes = *limit - r.Seen
			t.Headroom = u.text(float64(t.HeadroomBytes))
		}
		v.Trials = append(v.Trials, t)
		if r.Status != tuner.OK {
			v.Failures = append(v.Failures, t)
		}
	}
}

func (v *pageView) addBench(d *digest, u unit) {
	list := d.configsOfInterest(maxPageRows)
	v.BenchCut = cutText(len(list), len(d.configs))
	for _, c := range list {
		median := medianBytes(c.Peaks)
		v.Bench = append(v.Bench, pageConfiguration{
			configuration: c, Rate: rateOrDash(c.Throughput), Peak: peakText(u, median), Status: c.status(), PeakBytes: median,
			Spread: spreadOrDash(c.Peaks), SpreadValue: spread(c.Peaks),
		})
	}
}

var trialMention = regexp.MustCompile(`\btrial (\d+)`)

// trialLinker gives a function that escapes a text and links each mention of a
// trial that is listed, such as "trial 14".
func trialLinker(list []result) func(string) template.HTML {
	listed := map[int]bool{}
	for _, r := range list {
		listed[r.Number] = true
	}
	return func(text string) template.HTML {
		return template.HTML(trialMention.ReplaceAllStringFunc(html.EscapeString(text), func(mention string) string {
			n, err := strconv.Atoi(mention[len("trial "):])
			if err != nil || !listed[n] {
				return mention
			}
			return fmt.Sprintf(`<a href="#trial-%d">%s</a>`, n, mention)
		}))
	}
}
