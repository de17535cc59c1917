package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxNamed is the largest number of managed clusters that a message names.
const maxNamed = 3

// FindUncovered finds the add-ons in files that Placements install on managed clusters where a Required dependency is not installed.
// selected has the clusters that the Placements of each add-on in the files select. Other add-ons are where the hub has them.
func FindUncovered(registrations []Declared, hub *snapshot.Snapshot, selected map[string][]string) []LintFinding {
	evaluator := whatif.New(hub.Evaluator(Among(registrations, hub.Registrations)))
	install := map[string][]string{} // by cluster
	for _, addOn := range slices.Sorted(maps.Keys(selected)) {
		for _, cluster := range selected[addOn] {
			install[cluster] = append(install[cluster], addOn)
		}
	}
	missing := map[string]map[string][]string{} // by add-on, dependency
	for _, cluster := range slices.Sorted(maps.Keys(install)) {
		findings := evaluator.Findings(whatif.Change{Install: install[cluster]}.Apply(hub.Whole(cluster)))
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
	var findings []LintFinding
	for i := range registrations {
		registration := &registrations[i]
		decl := declaration.Read(&registration.AddOn)
		for j := range decl.Edges {
			edge := &decl.Edges[j]
			if clusters := missing[registration.AddOn.Name][edge.Dependency.Name]; len(clusters) > 0 {
				target := evaluation.Finding{Dependency: &edge.Dependency}.Target()
				findings = append(findings, registration.finding(review.Judgement{
					Rule: RuleNotPlaced, Field: decl.EdgePath(j), Message: uncoveredMessage(target, clusters),
				}))
			}
		}
	}
	return findings
}

// notInstalled reports whether neither the edge's add-on nor an alternative is installed. It is false for an API, because another
// component than an add-on may serve it.
func notInstalled(finding *evaluation.Finding) bool {
	for end := range finding.Ends() {
		if end.Verdict != evaluation.NotInstalled && (end == finding || end.Verdict != evaluation.Cycle) {
			return false
		}
	}
	return true
}

func uncoveredMessage(dependency string, clusters []string) string {
	names := strings.Join(clusters[:min(len(clusters), maxNamed)], ", ")
	if len(clusters) > maxNamed {
		names += ", …"
	}
	count := fmt.Sprintf("%d managed clusters", len(clusters))
	if len(clusters) == 1 {
		count = "1 managed cluster"
	}
	return fmt.Sprintf("Placements install it on %s where %q, which it needs, is not installed: %s", count, text.Name(dependency), names)
}
