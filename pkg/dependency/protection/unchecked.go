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

// Unchecked are the findings that could not be checked against a change, because no version is known, by the name of the add-on.
type Unchecked map[string][]evaluation.Finding

// UncheckedIn returns the findings that cannot be checked after a change and could be before, or were not there. Both are findings in
// settled states, as for Contradictions.
func UncheckedIn(before, after map[string][]evaluation.Finding) Unchecked {
	unchecked := Unchecked{}
	for addOn, findings := range after {
		already := sets.New[string]()
		for i := range before[addOn] {
			if versionLacks(&before[addOn][i]) {
				already.Insert(targets(&before[addOn][i])...)
			}
		}
		for i := range findings {
			if versionLacks(&findings[i]) && !already.HasAny(targets(&findings[i])...) {
				unchecked[addOn] = append(unchecked[addOn], findings[i])
			}
		}
	}
	return unchecked
}

// versionLacks reports whether an add-on cannot work without an edge whose verdict needs a version that is not known.
func versionLacks(f *evaluation.Finding) bool {
	return f.Dependency != nil && f.Verdict == evaluation.VersionUnknown && f.Blocks()
}

// Message names what was not checked, and how a version becomes known. It is empty where all was.
func (u Unchecked) Message() string {
	var edges []string
	for _, addOn := range slices.Sorted(maps.Keys(u)) {
		for i := range u[addOn] {
			finding := &u[addOn][i]
			edges = append(edges, fmt.Sprintf("%s %s (%s)", text.Name(addOn), Needs(*finding), finding.Found()))
		}
	}
	if left := len(edges) - maxNamed; left > 0 {
		edges = append(edges[:maxNamed], "and "+text.Count(left, "more edge"))
	}
	return strings.Join(edges, "; ")
}
