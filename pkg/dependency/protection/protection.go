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

// Requires reports whether a dependent cannot work without an add-on that is not installed: one of these
// verdicts on its edges is that it requires it. What is held, waived, Optional, or does not apply requires
// nothing, and so does an edge that another alternative satisfies.
func Requires(findings []evaluation.Finding, removed string) bool {
	for i := range findings {
		if !findings[i].Blocks() {
			continue
		}
		for f := range findings[i].Ends() {
			if f.Dependency != nil && declaration.Target(f.Dependency) == removed && f.Verdict == evaluation.NotInstalled {
				return true
			}
		}
	}
	return false
}

// Edge is what a change takes from a dependent: that an add-on is installed, if it is removed, or else what it needs, in
// words as "conflicts with base".
type Edge struct{ Dependent, Removed, Needs string }

func (e Edge) needs() string { return cmp.Or(e.Needs, "requires "+text.Name(e.Removed)) }

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
	edges := slices.SortedFunc(maps.Keys(b), func(x, y Edge) int {
		return cmp.Or(cmp.Compare(len(b[y]), len(b[x])), strings.Compare(x.Dependent, y.Dependent), strings.Compare(x.needs(), y.needs()))
	})
	var named []string
	for _, edge := range edges[:min(len(edges), maxNamed)] {
		named = append(named, fmt.Sprintf("%s %s (%s)", text.Name(edge.Dependent), edge.needs(), some(b[edge])))
		dependents.Delete(edge.Dependent)
	}
	message := fmt.Sprintf("would break %s on %s: %s", text.Count(all, "add-on"), text.Count(len(clusters), "cluster"), strings.Join(named, "; "))
	if left := len(dependents); left > 0 {
		message += fmt.Sprintf("; and %s", text.Count(left, "more add-on"))
	}
	return message
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
