package alerts

import (
	"encoding/json"
	"strings"
	"testing"
)

// Without a text of its own, an empty panel shows "No data", and an empty stat has the
// color of its first threshold: green, also where no replica leads.
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

// Grafana moves panels that overlap, so that the page differs from the file.
func TestPanelsOfTheDashboardDoNotOverlap(t *testing.T) {
	panels := readDashboard(t).Panels
	for i, p := range panels {
		position := p.GridPos
		if position.W < 1 || position.H < 1 || position.X < 0 || position.X+position.W > 24 {
			t.Errorf("%q: at %+v", p.Title, position)
		}
		for _, previous := range panels[:i] {
			earlier := previous.GridPos
			if position.X < earlier.X+earlier.W && earlier.X < position.X+position.W &&
				position.Y < earlier.Y+earlier.H && earlier.Y < position.Y+position.H {
				t.Errorf("%q overlaps %q", p.Title, previous.Title)
			}
		}
	}
}
