package statuscmd

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
)

// filter selects the add-ons to list.
type filter struct {
	name string
	// namespace is the namespace of a managed cluster. If it is empty, the filter keeps all clusters.
	namespace string
	// implied is whether the namespace is from the kubeconfig, not from -n.
	implied bool
	failing bool
	// waiting keeps only installations and upgrades that wait.
	waiting bool
	reasons []string
	// selector selects managed clusters by their labels. It may be nil.
	selector labels.Selector
	// selected has the clusters that the selector selects. It is nil without a selector.
	selected map[string]bool
}

// keeps reports whether the filter keeps a row: for its conditions, or for its wait.
func (f *filter) keeps(row Row) bool { return f.isNamed(row) && (f.lists(row) || f.listsWait(row)) }

// lists reports whether the filter keeps a row for its conditions.
func (f *filter) lists(row Row) bool {
	return !f.waiting && (!f.failing || row.Failing()) && (len(f.reasons) == 0 || slices.Contains(f.reasons, row.Reason))
}

// listsWait reports whether the filter keeps a row for its wait.
func (f *filter) listsWait(row Row) bool {
	return row.Waiting() && (len(f.reasons) == 0 || slices.Contains(f.reasons, gate.ReasonWaiting))
}

// isNamed reports whether a row has the named add-on, on one of the named managed clusters.
func (f *filter) isNamed(row Row) bool {
	return (f.name == "" || row.Name == f.name) && f.hasCluster(row.Namespace)
}

// hasCluster reports whether the filter keeps a managed cluster.
func (f *filter) hasCluster(cluster string) bool {
	return (f.namespace == "" || cluster == f.namespace) && (f.selected == nil || f.selected[cluster])
}

// selectsNone reports whether a selector selects no managed cluster. It returns false without a selector.
func (f *filter) selectsNone() bool {
	for cluster := range f.selected {
		if f.hasCluster(cluster) {
			return false
		}
	}
	return f.selector != nil
}

// emptyMessage returns the message for a hub without the named add-ons.
func (f *filter) emptyMessage() string {
	message := "No add-ons found"
	if f.name != "" {
		message = fmt.Sprintf("No add-on %q found", f.name)
	}
	switch {
	case f.selector != nil && f.namespace == "":
		return fmt.Sprintf("%s on managed clusters with the labels %s.", message, f.selector)
	case f.namespace == "":
		return message + " on any managed cluster."
	}
	cluster := fmt.Sprintf("managed cluster %q", f.namespace)
	if f.implied {
		cluster += ", the kubeconfig's namespace"
	}
	return fmt.Sprintf("%s on %s; name another with -n, or all with -A.", message, cluster)
}

// noMatchMessage returns the message if the filter keeps none of the rows.
func (f *filter) noMatchMessage(rows int) string {
	var criteria []string
	if f.failing {
		criteria = append(criteria, "failing")
	}
	if f.waiting {
		criteria = append(criteria, "waiting for dependencies")
	}
	if len(f.reasons) > 0 {
		criteria = append(criteria, "of reason "+strings.Join(f.reasons, " or "))
	}
	if rows == 1 {
		return fmt.Sprintf("The only add-on is not %s.", strings.Join(criteria, " and "))
	}
	return fmt.Sprintf("None of %d add-ons is %s.", rows, strings.Join(criteria, " and "))
}
