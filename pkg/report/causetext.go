package report

import (
	"fmt"
	"strings"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// MaxMessage is the maximum length of a shown message, in characters.
const MaxMessage = 1000

// RangesText describes the first failing ranges, with the add-ons that declare them. It is empty without any.
func (c *RootCause) RangesText(limit int) string {
	var described []string
	for _, failing := range c.Ranges[:min(len(c.Ranges), limit)] {
		described = append(described, fmt.Sprintf("%s of %s (%d)", text.OneLine(failing.Range), text.Names(failing.Dependents, ", "), failing.Clusters))
	}
	if rest := len(c.Ranges) - len(described); rest > 0 {
		described = append(described, fmt.Sprintf("%d more", rest))
	}
	return strings.Join(described, "; ")
}

// RepairText describes the first edges that the obvious repair would break. It is empty without a repair to describe.
func (c *RootCause) RepairText(limit int) string {
	repair, addOn := c.Repair, text.Name(c.AddOn)
	switch {
	case repair == nil:
		return ""
	case repair.NoVersion:
		return "no release of " + addOn + " is in all of these ranges: another version of a dependent is needed, or a policy that overrides a range"
	case repair.Version != "" && len(repair.Breaks) == 0:
		return fmt.Sprintf("version %s of %s is in all of these ranges, and breaks no other dependency", repair.Version, addOn)
	case repair.Version != "":
		return fmt.Sprintf("version %s of %s is in all of these ranges, but would break %s", repair.Version, addOn, broken(c.AddOn, repair.Breaks, limit))
	case repair.Remove != "" && len(repair.Breaks) == 0:
		return "the removal of " + addOn + " breaks no other dependency"
	case repair.Remove != "":
		return "the removal of " + addOn + " would break " + broken(c.AddOn, repair.Breaks, limit)
	default:
		return "the installation of " + addOn + " would break " + broken(c.AddOn, repair.Breaks, limit)
	}
}

// broken returns the edges that a repair of an add-on would break, each with its message.
func broken(repaired string, edges []BrokenEdge, limit int) string {
	var described []string
	for _, edge := range edges[:min(len(edges), limit)] {
		addOn := text.Name(edge.AddOn)
		if edge.AddOn == repaired {
			addOn += " itself"
		}
		described = append(described, fmt.Sprintf("%s (%d): %s", addOn, len(edge.Clusters),
			strings.TrimSuffix(text.Cut(text.OneLine(edge.Message), MaxMessage), ".")))
	}
	if rest := len(edges) - len(described); rest > 0 {
		described = append(described, text.Count(rest, "more dependency edge"))
	}
	return strings.Join(described, "; ")
}

// ShownMessage returns the message about a cause, if only the message has the finding.
func (c *RootCause) ShownMessage() string {
	switch c.Verdict {
	case evaluation.VersionMismatch, evaluation.VersionUnknown, evaluation.Conflict, evaluation.SettingMismatch:
	default:
		if c.AddOn != "" && !c.Stopped && !c.Stored {
			return ""
		}
	}
	return text.Cut(text.OneLine(c.Message), MaxMessage)
}
