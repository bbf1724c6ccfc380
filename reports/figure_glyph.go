package reports

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// glyphStroke is the width of the lines of crosses and rings, which gonum/plot draws too thin to be seen well.
const glyphStroke = 1.2

// cross is a diagonal cross.
type cross struct{}

// DrawGlyph draws the cross around a point.
func (cross) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: glyphStroke})
	r := style.Radius * vg.Length(math.Sqrt2/2)
	for _, side := range []vg.Length{-r, r} {
		var p vg.Path
		p.Move(vg.Point{X: at.X - r, Y: at.Y + side})
		p.Line(vg.Point{X: at.X + r, Y: at.Y - side})
		c.Stroke(p)
	}
}

// ring is a circle that is not filled.
type ring struct{}

// DrawGlyph draws the ring around a point.
func (ring) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: glyphStroke})
	var p vg.Path
	p.Move(vg.Point{X: at.X + style.Radius, Y: at.Y})
	p.Arc(at, style.Radius, 0, 2*math.Pi)
	p.Close()
	c.Stroke(p)
}
