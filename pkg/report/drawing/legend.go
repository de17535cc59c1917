package drawing

import (
	"fmt"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/report"
)

// edgeKind is a kind of edges with its own pattern of dashes.
type edgeKind struct{ dashes, meaning string }

var (
	requires    = edgeKind{"", "requires"}
	optional    = edgeKind{` stroke-dasharray="7,4"`, "is optional"}
	ifInstalled = edgeKind{` stroke-dasharray="2,3"`, "needed if installed"}
	alternative = edgeKind{` stroke-dasharray="12,3,2,3"`, "one of several"}
	conflicts   = edgeKind{` stroke-dasharray="14,6"`, "conflicts"}
)

func kindOf(edge *report.GraphEdge) edgeKind {
	switch {
	case edge.Type == addonv1alpha1.DependencyTypeConflicts:
		return conflicts
	case edge.Alternative:
		return alternative
	case edge.Type == addonv1alpha1.DependencyTypeOptional:
		return optional
	case edge.Type == addonv1alpha1.DependencyTypeIfInstalled:
		return ifInstalled
	default:
		return requires
	}
}

// legend explains colors, lines and numbers.
func (l *picture) legend(y float64) {
	x := margin
	for _, entry := range l.colorLegend() {
		l.add(`<rect class="box %s" x="%.1f" y="%.1f" width="16" height="12" rx="3" fill="%s" stroke="#57606a"/>`, entry.class, x, y-10, entry.color)
		l.text(x+22, y, "start", smallSize, "quiet", entry.meaning, "")
		x += 22 + textWidth(entry.meaning, smallSize) + 16
	}
	x, y = margin, y+22
	for _, kind := range []edgeKind{requires, optional, ifInstalled, alternative, conflicts} {
		x = l.lineLegend(x, y, "quiet", kind)
	}
	x, y = margin, y+22
	x = l.lineLegend(x, y, "broken", edgeKind{"", "fails on that many managed clusters"})
	counts := "Boxes count the condition Available of add-ons, and lines count dependencies."
	if l.marks != nil {
		counts = "Boxes count add-ons by state, as the table above does, and lines count dependencies."
	}
	l.text(x, y, "start", smallSize, "quiet", counts, "")
}

// lineLegend explains a line. It returns where the next entry begins.
func (l *picture) lineLegend(x, y float64, class string, kind edgeKind) float64 {
	l.line(fmt.Sprintf("M%.1f,%.1f h30", x, y-4), class, kind.dashes)
	l.text(x+36, y, "start", smallSize, "quiet", kind.meaning, "")
	return x + 36 + textWidth(kind.meaning, smallSize) + 16
}

// colorLegend returns the colors of boxes with their meanings.
func (l *picture) colorLegend() []state {
	if l.marks == nil {
		entries := []state{working, failing, unknown, absent}
		for i := range entries {
			entries[i].meaning = strings.TrimSpace(entries[i].sign + " " + entries[i].meaning)
		}
		return entries
	}
	var entries []state
	for _, each := range Classes {
		entries = append(entries, state{class: each.Class, color: each.Color, meaning: each.Meaning})
	}
	return entries
}
