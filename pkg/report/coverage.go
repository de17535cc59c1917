package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/review"
	"open-cluster-management.io/interlock/pkg/dependency/whatif"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxNamed is how many managed clusters a message names.
const maxNamed = 3

// FindUncovered finds the add-ons in files that Placements install on managed clusters where
// a Required dependency is not installed. selected are the clusters that Placements select
// for the add-ons in files, by add-on. Other add-ons are installed where theirs select.
func FindUncovered(all []Declared, of *snapshot.Snapshot, selected map[string][]string) (found []LintFinding) {
	after := whatif.New(of.Evaluator(Among(all, of.Registrations)))
	install := map[string][]string{} // by cluster
	for _, addOn := range slices.Sorted(maps.Keys(selected)) {
		for _, cluster := range selected[addOn] {
			install[cluster] = append(install[cluster], addOn)
		}
	}
	missing := map[string]map[string][]string{} // by add-on, dependency
	for _, cluster := range slices.Sorted(maps.Keys(install)) {
		findings := after.Findings(whatif.Change{Install: install[cluster]}.Apply(of.Whole(cluster)))
		for _, addOn := range install[cluster] {
			for _, finding := range findings[addOn] {
				if !notInstalled(&finding) || !finding.Blocks() {
					continue
				}
				if missing[addOn] == nil {
					missing[addOn] = map[string][]string{}
				}
				missing[addOn][finding.Name()] = append(missing[addOn][finding.Name()], cluster)
			}
		}
	}
	for i := range all {
		one := &all[i]
		declared := declaration.Read(&one.AddOn)
		for j := range declared.Edges {
			edge := &declared.Edges[j]
			if clusters := missing[one.AddOn.Name][edge.Dependency.Name]; len(clusters) > 0 {
				found = append(found, one.finding(review.Judgement{
					Rule: RuleNotPlaced, Field: declared.EdgePath(j), Message: uncovered(evaluation.Finding{Dependency: &edge.Dependency}.Target(), clusters),
				}))
			}
		}
	}
	return found
}

// notInstalled reports whether the add-on that an edge is on is not installed, or none of its alternatives is. An API may
// be served by what is no add-on.
func notInstalled(finding *evaluation.Finding) bool {
	for end := range finding.Ends() {
		if end.Verdict != evaluation.NotInstalled && (end == finding || end.Verdict != evaluation.Cycle) {
			return false
		}
	}
	return true
}

func uncovered(dependency string, clusters []string) string {
	named, more := strings.Join(clusters[:min(len(clusters), maxNamed)], ", "), ""
	if len(clusters) > maxNamed {
		more = ", …"
	}
	count := fmt.Sprintf("%d managed clusters", len(clusters))
	if len(clusters) == 1 {
		count = "1 managed cluster"
	}
	return fmt.Sprintf("Placements install it on %s where %q, which it needs, is not installed: %s%s", count, text.Name(dependency), named, more)
}
