package why

import (
	"fmt"
	"strings"

	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// ranges returns the failing ranges of a cause, with the add-ons that declare them. It is empty without any.
func (p *printer) ranges(item *report.RootCause) string {
	var described []string
	for _, failing := range item.Ranges[:min(len(item.Ranges), p.limit(maxNamed))] {
		described = append(described, fmt.Sprintf("%s of %s (%d)", text.OneLine(failing.Range), text.Names(failing.Dependents, ", "), failing.Clusters))
	}
	if rest := len(item.Ranges) - len(described); rest > 0 {
		described = append(described, fmt.Sprintf("%d more", rest))
	}
	return strings.Join(described, "; ")
}

// repair describes what the obvious repair of a cause would break. It is empty without a repair to describe.
func (p *printer) repair(item *report.RootCause) string {
	repair, addOn := item.Repair, text.Name(item.AddOn)
	switch {
	case repair == nil:
		return ""
	case repair.NoVersion:
		return "no release of " + addOn + " is in all of these ranges: another version of a dependent is needed, or a policy that overrides a range"
	case repair.Version != "" && len(repair.Breaks) == 0:
		return fmt.Sprintf("version %s of %s is in all of these ranges, and breaks no other dependency", repair.Version, addOn)
	case repair.Version != "":
		return fmt.Sprintf("version %s of %s is in all of these ranges, but would break %s", repair.Version, addOn, p.broken(item.AddOn, repair.Breaks))
	case repair.Remove != "" && len(repair.Breaks) == 0:
		return "the removal of " + addOn + " breaks no other dependency"
	case repair.Remove != "":
		return "the removal of " + addOn + " would break " + p.broken(item.AddOn, repair.Breaks)
	default:
		return "the installation of " + addOn + " would break " + p.broken(item.AddOn, repair.Breaks)
	}
}

// broken returns the edges that a repair of an add-on would break, each with its message.
func (p *printer) broken(repaired string, edges []report.BrokenEdge) string {
	var described []string
	for _, edge := range edges[:min(len(edges), p.limit(maxShared))] {
		addOn := text.Name(edge.AddOn)
		if edge.AddOn == repaired {
			addOn += " itself"
		}
		described = append(described, fmt.Sprintf("%s (%d): %s", addOn, len(edge.Clusters),
			strings.TrimSuffix(text.Cut(text.OneLine(edge.Message), maxMessage), ".")))
	}
	if rest := len(edges) - len(described); rest > 0 {
		described = append(described, text.Count(rest, "more dependency edge"))
	}
	return strings.Join(described, "; ")
}
