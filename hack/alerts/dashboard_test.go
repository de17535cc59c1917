package alerts

import (
	"encoding/json"
	"strings"
	"testing"
)

// Without a text of its own, an empty panel shows "No data", and a stat shows it in the
// colour of its first threshold: green, also where no replica leads.
func TestEveryPanelOfTheDashboardExplainsThatItIsEmpty(t *testing.T) {
	checked := 0
	for _, p := range readDashboard(t).Panels {
		switch p.Type {
		case "row":
			continue
		case "stat":
			if !p.mapsNull() && !p.alwaysHasSeries() {
				t.Errorf("%q: no mapping of null, and no series if there are none", p.Title)
			}
		default:
			if p.FieldConfig.Defaults.NoValue == "" {
				t.Errorf("%q: no noValue", p.Title)
			}
		}
		checked++
	}
	if checked < 20 {
		t.Errorf("only %d panels", checked)
	}
}

func (p panel) mapsNull() bool {
	for _, mapping := range p.FieldConfig.Defaults.Mappings {
		var options struct {
			Match  json.RawMessage
			Result struct{ Text, Color string }
		}
		// Mappings of another type have other options.
		if json.Unmarshal(mapping.Options, &options) == nil && string(options.Match) == `"null"` && options.Result.Text != "" {
			return options.Result.Color == "text"
		}
	}
	return false
}

func (p panel) alwaysHasSeries() bool {
	return strings.Contains(p.Targets[0].Expr, "or label_replace(vector(0)")
}

// Grafana moves panels that overlap, and shows another page than the file describes.
func TestPanelsOfTheDashboardDoNotOverlap(t *testing.T) {
	panels := readDashboard(t).Panels
	for i, p := range panels {
		at := p.GridPos
		if at.W < 1 || at.H < 1 || at.X < 0 || at.X+at.W > 24 {
			t.Errorf("%q: at %+v", p.Title, at)
		}
		for _, other := range panels[:i] {
			of := other.GridPos
			if at.X < of.X+of.W && of.X < at.X+at.W && at.Y < of.Y+of.H && of.Y < at.Y+at.H {
				t.Errorf("%q overlaps %q", p.Title, other.Title)
			}
		}
	}
}
