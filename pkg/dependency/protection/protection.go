// Package protection decides what a removal would take from the add-ons that are installed on managed
// clusters, and says so.
package protection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

const (
	// maxDependents is how many dependents a message names.
	maxDependents = 3
	// maxClusters is how many managed clusters it names for each of them.
	maxClusters = 2
)

// Modes are the values of the flag --protection of addon-manager webhook.
var Modes = map[string]dependencyv1alpha1.Protection{
	"off": dependencyv1alpha1.ProtectionOff, "warn": dependencyv1alpha1.ProtectionWarn, "enforce": dependencyv1alpha1.ProtectionEnforce,
}

// Requires reports whether a dependent cannot work without an add-on that is not installed: one of these
// verdicts on its edges is that it requires it. What is held, waived, Optional, or does not apply requires
// nothing.
func Requires(findings []evaluation.Finding, removed string) bool {
	return slices.ContainsFunc(findings, func(f evaluation.Finding) bool {
		return f.Dependency != nil && declaration.Target(f.Dependency) == removed && f.Verdict == evaluation.NotInstalled && f.Blocks()
	})
}

// Broken are the dependents that a removal would break, by the name of the dependent: on which managed
// clusters.
type Broken map[string][]string

// Add adds a dependent on a managed cluster.
func (b Broken) Add(dependent, cluster string) { b[dependent] = append(b[dependent], cluster) }

// Message counts and names what the removal of an add-on would break (lifecycle.md, "Refuse what
// breaks"). It is empty where that is nothing.
func (b Broken) Message(removed string) string {
	if len(b) == 0 {
		return ""
	}
	clusters := map[string]bool{}
	for _, on := range b {
		for _, cluster := range on {
			clusters[cluster] = true
		}
	}
	dependents := slices.SortedFunc(maps.Keys(b), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(b[y]), len(b[x])), strings.Compare(x, y))
	})
	var named []string
	for _, dependent := range dependents[:min(len(dependents), maxDependents)] {
		named = append(named, fmt.Sprintf("%s requires %s (%s)", text.Name(dependent), text.Name(removed), some(b[dependent])))
	}
	message := fmt.Sprintf("would break %s on %s: %s", text.Count(len(b), "add-on"), text.Count(len(clusters), "cluster"), strings.Join(named, "; "))
	if left := len(dependents) - len(named); left > 0 {
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
