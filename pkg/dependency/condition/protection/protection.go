// Package protection finds the dependencies that a removal, an installation or another change would break on managed clusters, and
// describes them in messages.
package protection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// maxNamed is the maximal number of edges that a message names.
	maxNamed = 3
	// maxClusters is the maximal number of managed clusters that it names for each edge.
	maxClusters = 2
)

// Modes are the values of the flag --protection of addon-manager webhook.
var Modes = map[string]dependencyv1alpha1.Protection{
	"off": dependencyv1alpha1.ProtectionOff, "warn": dependencyv1alpha1.ProtectionWarn, "enforce": dependencyv1alpha1.ProtectionEnforce,
}

// Taken returns the blocking edges of a dependent that a removal leaves unsatisfied, because a removed add-on is not installed
// any more. Held, waived, Optional and inapplicable edges do not count. before returns the findings before the removal. It is called
// only for edges with alternatives: such an edge counts only if it was not unsatisfied already.
func Taken(
	dependent string, removed sets.Set[string], after []evaluation.Finding, before func() ([]evaluation.Finding, error),
) (sets.Set[Edge], error) {
	taken := sets.New[Edge]()
	for i := range after {
		lost := notInstalled(&after[i], removed)
		if len(lost) == 0 {
			continue
		}
		if !declaration.HasAlternatives(after[i].Dependency) {
			taken.Insert(Edge{Dependent: dependent, Removed: lost[0]})
			continue
		}
		previous, err := before()
		if err != nil {
			return nil, err
		}
		if worked(previous, after[i].Name()) {
			taken.Insert(Edge{Dependent: dependent, Needs: Needs(after[i])})
		}
	}
	return taken, nil
}

// notInstalled returns the removed add-ons that an add-on lacks, if it cannot work without them.
func notInstalled(f *evaluation.Finding, removed sets.Set[string]) []string {
	if !f.Blocks() {
		return nil
	}
	var lost []string
	for end := range f.Ends() {
		if end.Dependency == nil || end.Verdict != evaluation.NotInstalled {
			continue
		}
		if target := declaration.Target(end.Dependency); removed.Has(target) {
			lost = append(lost, target)
		}
	}
	return lost
}

// worked reports whether an edge was not known to be unsatisfied.
func worked(before []evaluation.Finding, edge string) bool {
	return slices.ContainsFunc(before, func(f evaluation.Finding) bool { return f.Name() == edge && !f.Unsatisfied() })
}

// Edge is a dependency that a change breaks. Removed is the removed add-on. Without it, Needs describes the dependency, as in
// "conflicts with base" or "requires base or other".
type Edge struct{ Dependent, Removed, Needs string }

// Text describes the dependency, as in "requires base".
func (e Edge) Text() string { return cmp.Or(e.Needs, "requires "+text.Name(e.Removed)) }

// Broken has the managed clusters of each edge that a change would break.
type Broken map[Edge][]string

// Add adds an edge on a managed cluster.
func (b Broken) Add(edge Edge, cluster string) { b[edge] = append(b[edge], cluster) }

// Message counts and names the dependents that a change would break. It is empty if there are none.
func (b Broken) Message() string {
	if len(b) == 0 {
		return ""
	}
	dependents, clusters := sets.New[string](), sets.New[string]()
	for edge, names := range b {
		dependents.Insert(edge.Dependent)
		clusters.Insert(names...)
	}
	total := len(dependents)
	phrases := b.phrases()
	for _, edge := range b.ordered()[:len(phrases)] {
		dependents.Delete(edge.Dependent)
	}
	message := fmt.Sprintf("would break %s on %s: %s",
		text.Count(total, "add-on"), text.Count(len(clusters), "cluster"), strings.Join(phrases, "; "))
	if remaining := len(dependents); remaining > 0 {
		message += fmt.Sprintf("; and %s", text.Count(remaining, "more add-on"))
	}
	return message
}

// Waiting counts and names the edges that an upgrade waits for. It is empty if there are none.
func (b Broken) Waiting() string {
	if len(b) == 0 {
		return ""
	}
	clusters := sets.New[string]()
	for _, names := range b {
		clusters.Insert(names...)
	}
	return fmt.Sprintf("waits on %s, because of ordering: InstallAndUpgrade, until that is satisfied: %s",
		text.Count(len(clusters), "cluster"), strings.Join(b.phrases(), "; "))
}

// ordered returns the edges. Edges on more clusters come first.
func (b Broken) ordered() []Edge {
	return slices.SortedFunc(maps.Keys(b), func(x, y Edge) int {
		return cmp.Or(cmp.Compare(len(b[y]), len(b[x])), strings.Compare(x.Dependent, y.Dependent), strings.Compare(x.Text(), y.Text()))
	})
}

// phrases describes the first edges, with clusters for each.
func (b Broken) phrases() []string {
	var phrases []string
	edges := b.ordered()
	for _, edge := range edges[:min(len(edges), maxNamed)] {
		phrases = append(phrases, fmt.Sprintf("%s %s (%s)", text.Name(edge.Dependent), edge.Text(), some(b[edge])))
	}
	return phrases
}

// some names the first of managed clusters, and counts the others.
func some(clusters []string) string {
	sorted := slices.Sorted(slices.Values(clusters))
	joined := strings.Join(sorted[:min(len(sorted), maxClusters)], ", ")
	if remaining := len(sorted) - maxClusters; remaining > 0 {
		joined += fmt.Sprintf(" and %d more", remaining)
	}
	return joined
}
