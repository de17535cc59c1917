package result

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a set of curves over one axis.
type Chart struct {
	// Name is the name of its file, without extension.
	Name  string `json:"name"`
	Title string `json:"title"`
	X     string `json:"x"`
	Y     string `json:"y"`
	Lines []Line `json:"lines"`
}

// Line is a curve.
type Line struct {
	Name   string       `json:"name"`
	Points [][2]float64 `json:"at"`
}

const (
	chartWidth  = 7 * vg.Inch
	chartHeight = 3.5 * vg.Inch
	lineWidth   = 1.5
	border      = 6 * vg.Length(1)
)

// palette has colors that color-blind people can distinguish (Okabe and Ito).
var palette = []color.Color{
	color.RGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF},
	color.RGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF},
	color.RGBA{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF},
	color.RGBA{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF},
	color.RGBA{R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF},
}

const (
	// measured is the font with whose widths a chart is laid out, and shown is the list of fonts that a viewer takes the
	// first of that it has. Those before the generic one have the same widths.
	measured = "font-family:Liberation Sans;"
	shown    = "font-family:Arial, Helvetica, 'Liberation Sans', sans-serif;"
)

// SVG draws the chart.
func (c Chart) SVG() ([]byte, error) {
	canvas, err := c.plot()
	if err != nil {
		return nil, err
	}
	image := vgsvg.New(chartWidth, chartHeight)
	// The number at the right end of an axis is as wide beyond the axis as before its end.
	canvas.Draw(draw.Crop(draw.New(image), border, -3*border, border, -border))
	var text bytes.Buffer
	if _, err := image.WriteTo(&text); err != nil {
		return nil, fmt.Errorf("render chart %s: %w", c.Name, err)
	}
	return bytes.ReplaceAll(text.Bytes(), []byte(measured), []byte(shown)), nil
}

func (c Chart) plot() (*plot.Plot, error) {
	canvas := plot.New()
	canvas.Title.Text, canvas.X.Label.Text, canvas.Y.Label.Text = c.Title, c.X, c.Y
	canvas.X.Min, canvas.Y.Min = 0, 0
	canvas.BackgroundColor = color.White
	canvas.X.Tick.Marker, canvas.Y.Tick.Marker = numbers{}, numbers{}
	for _, style := range []*font.Font{
		&canvas.Title.TextStyle.Font, &canvas.X.Label.TextStyle.Font, &canvas.Y.Label.TextStyle.Font,
		&canvas.X.Tick.Label.Font, &canvas.Y.Tick.Label.Font, &canvas.Legend.TextStyle.Font,
	} {
		style.Variant = "Sans"
	}
	// A viewer without the measured font may have one that is wider by a fifth.
	for title := &canvas.Title.TextStyle; title.Width(c.Title) > chartWidth*4/5; {
		title.Font.Size--
	}
	canvas.Legend.Top, canvas.Legend.Left = true, true
	canvas.Legend.XOffs, canvas.Legend.Padding = 2*border, border/2
	canvas.Add(plotter.NewGrid())
	for i, line := range c.Lines {
		if err := line.drawOn(canvas, i); err != nil {
			return nil, fmt.Errorf("draw %q of chart %s: %w", line.Name, c.Name, err)
		}
	}
	// Room above the highest point, for the legend.
	canvas.Y.Max *= 1.35
	return canvas, nil
}

// numbers marks an axis as plot does, with numbers as the tables have them.
type numbers struct{}

// Ticks implements plot.Ticker.
func (numbers) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = format(ticks[i].Value, ticks[i].Value == math.Trunc(ticks[i].Value))
		}
	}
	return ticks
}

func (l Line) drawOn(canvas *plot.Plot, index int) error {
	points := make(plotter.XYs, len(l.Points))
	for i, point := range l.Points {
		points[i] = plotter.XY{X: point[0], Y: point[1]}
	}
	curve, dots, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	hue := palette[index%len(palette)]
	curve.Color, curve.Width = hue, vg.Points(lineWidth)
	dots.Color, dots.Radius, dots.Shape = hue, vg.Points(lineWidth), draw.CircleGlyph{}
	canvas.Add(curve, dots)
	canvas.Legend.Add(l.Name, curve, dots)
	return nil
}
