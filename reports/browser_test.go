package reports_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// requireChromium makes the tests fail, not skip, where there is no browser.
const requireChromium = "AUTOTUNE_REQUIRE_CHROMIUM"

// browser is a tab with what it asked the network for.
type browser struct {
	context.Context
	t        *testing.T
	mu       sync.Mutex
	requests []string
}

// open starts a browser on the page of a run, in a colour scheme and a width.
func open(t *testing.T, name, scheme string, width int64) *browser {
	t.Helper()
	path := chromium(t)
	dir := t.TempDir()
	run := load(t, name)
	run.Dir = dir
	if err := of(t, run).WriteAll(); err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	limited, stop := context.WithTimeout(t.Context(), 60*time.Second)
	allocator, stopBrowser := chromedp.NewExecAllocator(limited, options...)
	ctx, closeTab := chromedp.NewContext(allocator)
	t.Cleanup(func() {
		closeTab()
		stopBrowser()
		stop()
	})
	b := &browser{Context: ctx, t: t}
	b.must(chromedp.Listen(ctx, b.note))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	b.must(err)
	_, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	b.must(err)
	b.must(chromedp.Do(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate("file://"+filepath.Join(dir, "report.html"))))
	return b
}

// chromium is the path of a browser; without one the test is skipped, or fails where one is required.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv(requireChromium) != "" {
		t.Fatal("no chromium, chromium-browser or google-chrome on the path, and ", requireChromium, " is set")
	}
	t.Skip("no chromium, chromium-browser or google-chrome on the path")
	return ""
}

func (b *browser) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// note remembers what the page asks the network for.
func (b *browser) note(event any) {
	if sent, ok := event.(*network.EventRequestWillBeSent); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.requests = append(b.requests, sent.Request.URL)
	}
}

// eval is the value of a script in the page.
func eval[T any](b *browser, script string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.Context, chromedp.Evaluate[T](script))
	b.must(err)
	return value
}

func TestPageAsksForNothing(t *testing.T) {
	b := open(t, "tune", "light", 1000)
	address := eval[string](b, "location.href")
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Equal(b.requests, []string{address}) {
		t.Errorf("the page asked for %q, not for itself alone", b.requests)
	}
}

func TestPageSortsByAClick(t *testing.T) {
	b := open(t, "tune", "light", 1000)
	const head = `[...document.querySelectorAll("#trials ~ .scroll th")].find(h => h.textContent.startsWith("Peak"))`
	const order = `[...document.querySelectorAll("#trials ~ .scroll tbody tr")].map(r => r.id)`
	click := func() string {
		b.must(chromedp.Do(b.Context, chromedp.Click(chromedp.JSPath(head+`.querySelector("button")`))))
		return eval[string](b, head+`.getAttribute("aria-sort")`)
	}
	// By peak, those without one (10 and 13) last in both directions.
	rising := []string{"trial-1", "trial-9", "trial-8", "trial-2", "trial-7", "trial-6", "trial-12", "trial-4", "trial-5", "trial-3", "trial-11"}
	unknown := []string{"trial-10", "trial-13"}
	if direction := click(); direction != "ascending" {
		t.Errorf("aria-sort is %q", direction)
	}
	if got, want := eval[[]string](b, order), slices.Concat(rising, unknown); !slices.Equal(got, want) {
		t.Errorf("rising order %q, want %q", got, want)
	}
	if direction := click(); direction != "descending" {
		t.Errorf("aria-sort is %q", direction)
	}
	slices.Reverse(rising)
	if got, want := eval[[]string](b, order), slices.Concat(rising, unknown); !slices.Equal(got, want) {
		t.Errorf("falling order %q, want %q", got, want)
	}
}

func TestPageFitsANarrowScreen(t *testing.T) {
	for _, name := range []string{"tune", "bench", "pytorch"} {
		b := open(t, name, "light", 400)
		if width := eval[int](b, "document.documentElement.scrollWidth"); width > 400 {
			t.Errorf("%s: the page is %d pixels wide on a screen of 400", name, width)
		}
	}
}

// contrasts gives the elements whose own text has a contrast below 4.5:1 with
// what lies behind it, by the formula of WCAG 2.2, and how many have text at all.
const contrasts = `(() => {
  const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] > 0) return c; } return [255, 255, 255, 1]; };
  const low = []; let texts = 0;
  for (const e of document.body.querySelectorAll("*")) {
    if (["SCRIPT", "STYLE"].includes(e.tagName) || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    texts++;
    const style = getComputedStyle(e), svg = e.closest("svg");
    const front = parse(svg ? style.fill : style.color);
    const back = svg ? parse(getComputedStyle(svg.querySelector("path")).fill) : behind(e);
    const [a, b] = [light(front), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(e.tagName + " " + e.textContent.trim().slice(0, 30) + ": " + ratio.toFixed(2));
  }
  return { low, texts, paper: light(parse(getComputedStyle(document.body).backgroundColor)) };
})()`

func TestPageContrast(t *testing.T) {
	for _, scheme := range []string{"light", "dark"} {
		b := open(t, "tune", scheme, 1000)
		found := eval[struct {
			Low   []string
			Texts int
			Paper float64
		}](b, contrasts)
		if len(found.Low) > 0 {
			t.Errorf("%s: too little contrast: %q", scheme, found.Low)
		}
		if found.Texts < 100 {
			t.Errorf("%s: only %d texts looked at", scheme, found.Texts)
		}
		if (found.Paper < 0.5) != (scheme == "dark") {
			t.Errorf("%s: the paper's luminance is %.2f", scheme, found.Paper)
		}
	}
}
