package result

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// drawn matches a text that a chart draws from left to right, and has its left end, its size and its letters.
var drawn = regexp.MustCompile(`<text x="([-\d.]+)" [^>]*;font-size:(\d+)px">([^<]+)<`)

// TestChartsAreInsideTheirPicture tests that no text of a chart begins or ends outside of the picture, with long titles and
// large numbers.
func TestChartsAreInsideTheirPicture(t *testing.T) {
	for _, title := range []string{"Short", strings.Repeat("Time until all conditions are right ", 3)} {
		chart := Chart{Name: "long", Title: title, X: "clusters", Y: "seconds", Lines: []Line{
			{Name: "Interlock", Points: [][2]float64{{0, 0}, {1_000_000, 2_000_000}}},
		}}
		picture, err := chart.SVG()
		if err != nil {
			t.Fatal(err)
		}
		texts := drawn.FindAllStringSubmatch(string(picture), -1)
		if len(texts) < 5 || !strings.Contains(string(picture), ">1,000,000<") {
			t.Fatalf("%d texts:\n%s", len(texts), picture)
		}
		style := plot.New().Title.TextStyle
		style.Font.Variant = "Sans"
		for _, match := range texts {
			left, _ := strconv.ParseFloat(match[1], 64)
			size, _ := strconv.Atoi(match[2])
			style.Font.Size = vg.Length(size)
			if right := left + style.Width(match[3]).Points(); left < 0 || right > chartWidth.Points() {
				t.Errorf("%q is drawn from %.0f to %.0f, in a picture of %.0f", match[3], left, right, chartWidth.Points())
			}
		}
	}
}
