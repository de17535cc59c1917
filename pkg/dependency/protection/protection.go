// Package protection decides what a removal would take from the add-ons that are installed on managed
// clusters, and what contradicts an installation or a change, and says so.
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
	// maxNamed is how many edges a message names.
	maxNamed = 3
	// maxClusters is how many managed clusters it names for each of them.
	maxClusters = 2
)

// Modes are the values of the flag --protection of addon-manager webhook.
var Modes = map[string]dependencyv1alpha1.Protection{
	"off": dependencyv1alpha1.ProtectionOff, "warn": dependencyv1alpha1.ProtectionWarn, "enforce": dependencyv1alpha1.ProtectionEnforce,
}

// Taken returns the edges of a dependent without which it cannot work, and which a removal leaves unsatisfied: the verdict on
// each after it is that an add-on is not installed which has been removed. What is held, waived, Optional, or does not apply
// requires nothing. before returns the findings before the removal; it is called for edges with alternatives only: such an
// edge is satisfied by another one, or no removed add-on satisfied it.
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
		was, err := before()
		if err != nil {
			return nil, err
		}
		if worked(was, after[i].Name()) {
			taken.Insert(Edge{Dependent: dependent, Needs: Needs(after[i])})
		}
	}
	return taken, nil
}

// notInstalled returns the removed add-ons that an add-on lacks, if it cannot work without them.
func notInstalled(f *evaluation.Finding, removed sets.Set[string]) (lost []string) {
	if !f.Blocks() {
		return nil
	}
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

// Edge is what a change takes from a dependent: that an add-on is installed, if it is removed, or else what it needs, in
// words as "conflicts with base" or "requires base or other".
type Edge struct{ Dependent, Removed, Needs string }

// Text says what the change takes from the dependent.
func (e Edge) Text() string { return cmp.Or(e.Needs, "requires "+text.Name(e.Removed)) }

// Broken are the edges that a change would break: on which managed clusters.
type Broken map[Edge][]string

// Add adds an edge on a managed cluster.
func (b Broken) Add(edge Edge, cluster string) { b[edge] = append(b[edge], cluster) }

// Message counts and names what a change would break (lifecycle.md, "Refuse what breaks"). It is empty
// where that is nothing.
func (b Broken) Message() string {
	if len(b) == 0 {
		return ""
	}
	dependents, clusters := sets.New[string](), sets.New[string]()
	for edge, on := range b {
		dependents.Insert(edge.Dependent)
		clusters.Insert(on...)
	}
	all := len(dependents)
	named := b.named()
	for _, edge := range b.ordered()[:len(named)] {
		dependents.Delete(edge.Dependent)
	}
	message := fmt.Sprintf("would break %s on %s: %s", text.Count(all, "add-on"), text.Count(len(clusters), "cluster"), strings.Join(named, "; "))
	if left := len(dependents); left > 0 {
		message += fmt.Sprintf("; and %s", text.Count(left, "more add-on"))
	}
	return message
}

// Waiting counts and names what an upgrade waits for. It is empty where that is nothing.
func (b Broken) Waiting() string {
	if len(b) == 0 {
		return ""
	}
	clusters := sets.New[string]()
	for _, on := range b {
		clusters.Insert(on...)
	}
	return fmt.Sprintf("waits on %s, because of ordering: InstallAndUpgrade, until that is satisfied: %s",
		text.Count(len(clusters), "cluster"), strings.Join(b.named(), "; "))
}

// ordered are the edges, those on most clusters first.
func (b Broken) ordered() []Edge {
	return slices.SortedFunc(maps.Keys(b), func(x, y Edge) int {
		return cmp.Or(cmp.Compare(len(b[y]), len(b[x])), strings.Compare(x.Dependent, y.Dependent), strings.Compare(x.Text(), y.Text()))
	})
}

// named names the first edges, with clusters for each.
func (b Broken) named() (named []string) {
	edges := b.ordered()
	for _, edge := range edges[:min(len(edges), maxNamed)] {
		named = append(named, fmt.Sprintf("%s %s (%s)", text.Name(edge.Dependent), edge.Text(), some(b[edge])))
	}
	return named
}

// some names the first of managed clusters, and counts the others.
func some(clusters []string) string {
	sorted := slices.Sorted(slices.Values(clusters))
	listed := strings.Join(sorted[:min(len(sorted), maxClusters)], ", ")
	if left := len(sorted) - maxClusters; left > 0 {
		listed += fmt.Sprintf(" and %d more", left)
	}
	return listed
}
