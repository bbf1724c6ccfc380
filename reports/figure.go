package reports

import (
	"bytes"
	"fmt"
	"image/color"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"autotune/harness"
)

// The size of a figure; PNG files have 144 points an inch.
const (
	figureWidth  = 540 * vg.Length(1)
	figureHeight = 330 * vg.Length(1)
	figureDPI    = 144
)

// Figure is a drawing of a run, ready to be written as PNG or SVG.
type Figure struct {
	Name    string // of its file, without the ending
	Title   string
	Caption string // how to read it
	// Empty says that there are axes alone, and the caption why.
	Empty  bool
	plot   *plot.Plot
	legend []legendEntry
}

// legendEntry is one entry of a figure's legend, which stands above the plot so
// that it covers no data.
type legendEntry struct {
	name   string
	thumbs []plot.Thumbnailer
}

// Figures draws a run: throughput against micro-batch, peak memory against
// micro-batch, and the time of one optimizer step. A run without measurements
// gives empty axes, which the page leaves out.
func Figures(run *harness.Run) ([]*Figure, error) {
	d, err := digestOf(run)
	if err != nil {
		return nil, err
	}
	return figures(d)
}

func figures(d *digest) ([]*Figure, error) {
	var list []*Figure
	for _, draw := range []func(*digest) (*Figure, error){throughputFigure, memoryFigure, stepTimeFigure} {
		f, err := draw(d)
		if err != nil {
			return nil, fmt.Errorf("drawing a figure of %s: %w", d.Dir, err)
		}
		list = append(list, f)
	}
	return list, nil
}

// newFigure is an empty figure in the style that all share.
func newFigure(name, title string) *Figure {
	p := plot.New()
	p.BackgroundColor = paper
	sans := font.Font{Typeface: "Liberation", Variant: "Sans", Size: 11}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Tick.Color = muted, muted
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = sans, sans
		axis.Label.TextStyle.Color, axis.Tick.Label.Color = ink, ink
		axis.Label.Padding = 4
		axis.Padding = 0
	}
	p.Legend.TextStyle.Font = sans
	p.Legend.TextStyle.Color = ink
	return &Figure{Name: name, Title: title, plot: p}
}

// describe adds an entry to the legend.
func (f *Figure) describe(name string, thumbs ...plot.Thumbnailer) {
	f.legend = append(f.legend, legendEntry{name: name, thumbs: thumbs})
}

// draw draws the legend and the plot below it.
func (f *Figure) draw(canvas vg.CanvasSizer) {
	c := draw.New(canvas)
	c.SetColor(f.plot.BackgroundColor)
	c.Fill(c.Path())
	c = draw.Crop(c, 6, -10, 6, -6)
	height := f.drawLegend(c)
	f.plot.Draw(draw.Crop(c, 0, 0, 0, -height))
}

// drawLegend draws the legend's entries in lines from the top left and returns its height.
func (f *Figure) drawLegend(c draw.Canvas) vg.Length {
	const line, gap = 17, 14
	x, y := vg.Length(0), vg.Length(0)
	if len(f.legend) == 0 {
		return 0
	}
	for _, entry := range f.legend {
		legend := plot.NewLegend()
		legend.TextStyle = f.plot.Legend.TextStyle
		legend.Top, legend.Left = true, true
		legend.Add(entry.name, entry.thumbs...)
		width := legend.ThumbnailWidth + legend.TextStyle.Rectangle(" "+entry.name).Size().X
		if x > 0 && x+width > c.Max.X-c.Min.X {
			x, y = 0, y+line
		}
		legend.Draw(draw.Crop(c, x, 0, 0, -y))
		x += width + gap
	}
	return y + line + 6
}

// PNG is the figure as a PNG file.
func (f *Figure) PNG() ([]byte, error) {
	canvas := vgimg.NewWith(vgimg.UseWH(figureWidth, figureHeight), vgimg.UseDPI(figureDPI))
	f.draw(canvas)
	var out bytes.Buffer
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(&out)
	return out.Bytes(), err
}

// SVG is the figure as an element for a page: it fills the width it is given,
// and its colours are the page's variables (--paper, --ink, ...), each with the
// colour of the PNG file where a page does not set it.
func (f *Figure) SVG() (string, error) {
	canvas := vgsvg.New(figureWidth, figureHeight)
	f.draw(canvas)
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", err
	}
	text := out.String()
	at := strings.Index(text, "<svg")
	if at < 0 {
		return "", fmt.Errorf("figure %s: the drawing has no <svg> element", f.Name)
	}
	end := at + strings.Index(text[at:], ">")
	head := fmt.Sprintf(`<svg viewBox="0 0 %g %g" role="img" aria-label=%q xmlns="http://www.w3.org/2000/svg"`,
		figureWidth.Points(), figureHeight.Points(), f.Title)
	body := strings.ReplaceAll(text[end:], "font-family:Liberation Sans", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif")
	return head + hexColour.ReplaceAllStringFunc(body, themed), nil
}

var hexColour = regexp.MustCompile(`#[0-9A-F]{6}\b`)

// themed is a colour of the palette as the page's variable, with itself for other pages.
func themed(hex string) string {
	for name, c := range palette {
		r, g, b, _ := c.RGBA()
		if hex == fmt.Sprintf("#%02X%02X%02X", r>>8, g>>8, b>>8) {
			return fmt.Sprintf("var(--%s,%s)", name, hex)
		}
	}
	return hex
}

// The colours of figures. None is pure black, which the SVG writer leaves out.
var (
	paper = color.NRGBA{255, 255, 255, 255}
	ink   = color.NRGBA{31, 35, 40, 255}
	muted = color.NRGBA{89, 99, 110, 255}
	rule  = color.NRGBA{222, 226, 230, 255}
	alarm = color.NRGBA{190, 30, 45, 255}

	// series are told apart by shape too.
	series = []color.NRGBA{{9, 105, 218, 255}, {188, 76, 0, 255}, {26, 127, 55, 255}, {130, 80, 223, 255}, {125, 78, 0, 255}}
	shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}}

	// palette names the colours as the page's variables.
	palette = map[string]color.NRGBA{
		"paper": paper, "ink": ink, "muted": muted, "rule": rule, "alarm": alarm,
		"series-1": series[0], "series-2": series[1], "series-3": series[2], "series-4": series[3], "series-5": series[4],
	}
)
