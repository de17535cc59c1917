package nextstep

import (
	"fmt"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// Effect describes the effect of the commands: whether they only read, or on how many managed clusters they change something. affected is the
// number of managed clusters that the step is about. It is empty without a command.
func (s Step) Effect(affected int) string {
	switch {
	case s.Run == "":
		return ""
	case s.Changes > 0:
		return "changes " + text.Count(s.Changes, "managed cluster")
	case s.Edits:
		return "opens an editor, and what you save changes the declaration for all managed clusters"
	case s.Example != "" && affected > 1:
		return fmt.Sprintf("only reads, and shows %s, one of the %d: for another one, replace its name", text.Name(s.Example), affected)
	default:
		return "only reads"
	}
}

// withExample returns the step with the managed cluster as its example, if its commands name that cluster alone.
func (s Step) withExample(cluster string) Step {
	if s.Changes == 0 && slices.Contains(strings.Fields(s.Run), cluster) {
		s.Example = cluster
	}
	return s
}

// FindUnavailable returns the next step about an add-on that is not available, and is no root cause.
func FindUnavailable(fleetState *snapshot.Snapshot, addOn *report.UnavailableAddOn) Step {
	first := addOn.Clusters[0]
	if addOn.Began.Cluster != "" {
		first = addOn.Began.Cluster
	}
	if !areNames(addOn.AddOn, first) {
		return Step{}
	}
	return notAvailable(fleetState, addOn.AddOn, first).withExample(first)
}
