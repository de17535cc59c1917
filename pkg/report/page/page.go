// Package page writes the overview of a fleet as an HTML page. The page has no script and refers to nothing outside of itself.
package page

import (
	"crypto/sha256"
	_ "embed" // for the template and the style sheet
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/drawing"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/pkg/text"
)

//go:embed page.css
var style string

//go:embed page.html.tmpl
var source string

var parsed = template.Must(template.New("page").Funcs(template.FuncMap{
	"symbol":      symbolOf,
	"word":        wordOf,
	"meaning":     func(state overview.State) string { return states[state].meaning },
	"count":       text.Count,
	"name":        text.Name,
	"line":        text.OneLine,
	"unavailable": func() string { return report.UnavailableText },
}).Parse(source))

// Write writes the page.
func Write(out io.Writer, o *overview.Overview) error {
	var figure strings.Builder
	if err := drawing.Figure(&figure, o.Graph, Marks(o.NodeStates)); err != nil {
		return err
	}
	v := &view{
		Overview: o,
		Style:    template.CSS(style),            //nolint:gosec // it is a file of this package
		Figure:   template.HTML(figure.String()), //nolint:gosec // drawing escapes names
		anchors:  map[string]string{},
	}
	for i := range o.Clusters {
		v.anchors[o.Clusters[i].Name] = fmt.Sprintf("c%d", i+1)
	}
	if err := parsed.Execute(out, v); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

// view is an overview with the methods that the template calls.
type view struct {
	*overview.Overview

	Style  template.CSS
	Figure template.HTML
	// anchors are the ids of the elements about managed clusters.
	anchors map[string]string
}

// Policy returns the Content-Security-Policy of the page: it may use its own style sheet, and nothing else.
func (v *view) Policy() string {
	hash := sha256.Sum256([]byte(v.Style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; base-uri 'none'; form-action 'none'"
}

// FoldedNotices returns the notices that are not urgent.
func (v *view) FoldedNotices() []overview.Notice {
	return slices.DeleteFunc(slices.Clone(v.Notices), func(notice overview.Notice) bool { return notice.Urgent })
}

// Anchor returns the id of the element about a managed cluster. It is empty if there is no such element.
func (v *view) Anchor(cluster string) string { return v.anchors[cluster] }

// Ago returns the time between a moment and the reading of the hub.
func (v *view) Ago(since time.Time) string { return duration.HumanDuration(v.Taken.Sub(since)) }

// Cause returns a root cause by its number. It is nil if the page does not have it.
func (v *view) Cause(number int) *overview.Cause {
	if number > len(v.Causes) {
		return nil
	}
	return &v.Causes[number-1]
}

// cardView, namesView and cellView are the inputs of templates that need the view too.
type (
	cardView struct {
		Cause *overview.Cause
		View  *view
	}
	namesView struct {
		Names overview.Names
		View  *view
	}
	cellView struct {
		Cell overview.Cell
		View *view
	}
)

// Card returns the input of the template cause.
func (v *view) Card(cause overview.Cause) cardView { return cardView{&cause, v} }

// Names returns the input of the template names.
func (v *view) Names(names overview.Names) namesView { return namesView{names, v} }

// Cell returns the input of the template cell.
func (v *view) Cell(cell overview.Cell) cellView { return cellView{cell, v} }

// AllWorking reports whether no add-on of the cell has another state.
func (c cellView) AllWorking() bool {
	return len(c.Cell.States) == 1 && c.Cell.States[0].State == overview.Working
}

// Mix returns the states of the add-ons on a managed cluster.
func (v *view) Mix(cluster overview.Cluster) overview.Cell {
	counts := map[overview.State]int{overview.Working: cluster.Working}
	for i := range cluster.AddOns {
		counts[cluster.AddOns[i].State]++
	}
	var mix overview.Cell
	for _, state := range overview.States {
		if counts[state] > 0 {
			mix.States = append(mix.States, overview.CellState{State: state, Count: counts[state]})
		}
	}
	return mix
}
