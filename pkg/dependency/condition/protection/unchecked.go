package protection

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// Unchecked has the findings that could not be checked against a change, because a version is missing, by the name of the add-on.
type Unchecked map[string][]evaluation.Finding

// UncheckedIn returns the findings that are unchecked only after a change. Its arguments are findings in settled states, as for
// Contradictions.
func UncheckedIn(before, after map[string][]evaluation.Finding) Unchecked {
	unchecked := Unchecked{}
	for addOn, findings := range after {
		ignored := sets.New[string]()
		for i := range before[addOn] {
			if lacksVersion(&before[addOn][i]) {
				ignored.Insert(targets(&before[addOn][i])...)
			}
		}
		for i := range findings {
			if lacksVersion(&findings[i]) && !ignored.HasAny(targets(&findings[i])...) {
				unchecked[addOn] = append(unchecked[addOn], findings[i])
			}
		}
	}
	return unchecked
}

// lacksVersion reports whether an edge blocks the add-on and its verdict needs a version that is missing.
func lacksVersion(f *evaluation.Finding) bool {
	return f.Dependency != nil && f.Verdict == evaluation.VersionUnknown && f.Blocks()
}

// Message lists the unchecked edges, and explains how to report a version. It is empty if there are none.
func (u Unchecked) Message() string {
	var edges []string
	for _, addOn := range slices.Sorted(maps.Keys(u)) {
		for i := range u[addOn] {
			finding := &u[addOn][i]
			edges = append(edges, fmt.Sprintf("%s %s (%s)", text.Name(addOn), Needs(*finding), finding.Reason()))
		}
	}
	if remaining := len(edges) - maxNamed; remaining > 0 {
		edges = append(edges[:maxNamed], "and "+text.Count(remaining, "more edge"))
	}
	return strings.Join(edges, "; ")
}
