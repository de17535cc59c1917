package result

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
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
)

// palette has colors that color-blind people can distinguish (Okabe and Ito).
var palette = []color.Color{
	color.RGBA{R: 0x00, G: 0x72, B: 0xB2, A: 0xFF},
	color.RGBA{R: 0xD5, G: 0x5E, B: 0x00, A: 0xFF},
	color.RGBA{R: 0x00, G: 0x9E, B: 0x73, A: 0xFF},
	color.RGBA{R: 0xCC, G: 0x79, B: 0xA7, A: 0xFF},
	color.RGBA{R: 0x56, G: 0xB4, B: 0xE9, A: 0xFF},
}

// SVG draws the chart.
func (c Chart) SVG() ([]byte, error) {
	canvas := plot.New()
	canvas.Title.Text, canvas.X.Label.Text, canvas.Y.Label.Text = c.Title, c.X, c.Y
	canvas.X.Min, canvas.Y.Min = 0, 0
	canvas.BackgroundColor = color.White
	canvas.Legend.Top, canvas.Legend.Left = true, true
	canvas.Add(plotter.NewGrid())
	for i, line := range c.Lines {
		if err := line.drawOn(canvas, i); err != nil {
			return nil, fmt.Errorf("draw %q of chart %s: %w", line.Name, c.Name, err)
		}
	}
	// Room above the highest point, for the legend.
	canvas.Y.Max *= 1.25
	image := vgsvg.New(chartWidth, chartHeight)
	canvas.Draw(draw.New(image))
	var text bytes.Buffer
	if _, err := image.WriteTo(&text); err != nil {
		return nil, fmt.Errorf("render chart %s: %w", c.Name, err)
	}
	return text.Bytes(), nil
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
