package overview

import (
	"regexp"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/report"
)

// explain explains the state of an add-on on its managed cluster, as far as its dependencies and conditions do not show it.
func (f *stateFinder) explain(state State, addOn *addonv1alpha1.ManagedClusterAddOn, edges []Edge) string {
	key := location{addOn.Namespace, addOn.Name}
	switch state {
	case Down:
		if len(f.roots[key]) > 0 {
			return "Other add-ons on the cluster fail because of it."
		}
		return "No Required dependency on the cluster fails because of it."
	case Stale:
		return "All its dependencies are satisfied, and its conditions do not show that: addon-manager, or the agent that sets Available, has not updated them."
	case Waiting:
		return explainWait(addOn, edges)
	case Held:
		return "It is not known whether " + heldNames(edges) + " is satisfied. Until it is, the last conditions count."
	case Unreported:
		return "Its agent has not reported anything from this cluster yet: it has no condition Available."
	case Leaving:
		if removal, ok := f.removing[key]; ok {
			return shownTimes(safeText(removal))
		}
		return "It is removed with its managed cluster."
	case Limited:
		return "It works, and an Optional dependency fails."
	default:
		return ""
	}
}

// explainWait explains why an add-on is not installed yet.
func explainWait(addOn *addonv1alpha1.ManagedClusterAddOn, edges []Edge) string {
	switch {
	case fleet.HeldForContradiction(addOn):
		return "Not installed: it contradicts add-ons that are installed on this cluster."
	case slices.ContainsFunc(edges, isAwaited):
		return "Not installed yet: it waits until its dependencies are satisfied."
	default:
		return "Not installed yet, although all its dependencies are satisfied. addon-manager lets it be installed if it runs with --lifecycle. kubectl addon doctor checks that."
	}
}

// isAwaited reports whether an installation waits for a dependency.
func isAwaited(edge Edge) bool {
	return edge.Type != addonv1alpha1.DependencyTypeOptional && (edge.Verdict.Unsatisfied() || edge.Verdict == evaluation.Held)
}

// heldNames names the dependencies whose verdict is held.
func heldNames(edges []Edge) string {
	var names []string
	for i := range edges {
		if edges[i].Verdict == evaluation.Held && edges[i].Name != "" {
			names = append(names, edges[i].Name)
		}
	}
	if len(names) == 0 {
		return "a dependency"
	}
	return strings.Join(names, ", ")
}

var timestamp = regexp.MustCompile(`(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z`)

// shownTimes returns a text of Interlock with its times in the format of pages.
func shownTimes(content string) string { return timestamp.ReplaceAllString(content, "$1 $2 UTC") }

// rootsOf returns the numbers of the root causes that add-ons on managed clusters are.
func rootsOf(causes *report.RootCauses) map[location][]int {
	roots := map[location][]int{}
	for i := range causes.Items {
		if causes.Items[i].AddOn == "" {
			continue
		}
		for _, cluster := range causes.Items[i].Clusters() {
			key := location{cluster, causes.Items[i].AddOn}
			roots[key] = append(roots[key], i+1)
		}
	}
	return roots
}
