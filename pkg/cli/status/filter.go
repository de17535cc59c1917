package status

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"open-cluster-management.io/interlock/pkg/dependency/gate"
)

// filter selects the add-ons to list.
type filter struct {
	name string
	// namespace is that of the managed cluster; empty: all. It is implied where it is that
	// of the kubeconfig, not of -n.
	namespace string
	implied   bool
	failing   bool
	reasons   []string
	// selector chooses managed clusters by their labels; nil: all.
	selector labels.Selector
	// selected are those clusters; nil without a selector.
	selected map[string]bool
}

// has reports whether the filter keeps a row: for its conditions, or for its wait.
func (f *filter) has(row Row) bool { return f.knows(row) && (f.lists(row) || f.listsWait(row)) }

// lists reports whether the filter keeps a row for its conditions.
func (f *filter) lists(row Row) bool {
	return (!f.failing || row.Failing()) && (len(f.reasons) == 0 || slices.Contains(f.reasons, row.Reason))
}

// listsWait reports whether the filter keeps a row for its wait.
func (f *filter) listsWait(row Row) bool {
	return row.Waiting() && (len(f.reasons) == 0 || slices.Contains(f.reasons, gate.ReasonWaiting))
}

// knows reports whether a row is of the add-on and the managed clusters that are named.
func (f *filter) knows(row Row) bool {
	return (f.name == "" || row.Name == f.name) && f.on(row.Namespace)
}

// on reports whether a managed cluster is among those that are named.
func (f *filter) on(cluster string) bool {
	return (f.namespace == "" || cluster == f.namespace) && (f.selected == nil || f.selected[cluster])
}

// selectsNone reports whether there is a selector, and no managed cluster that it selects.
func (f *filter) selectsNone() bool {
	for cluster := range f.selected {
		if f.on(cluster) {
			return false
		}
	}
	return f.selector != nil
}

// nothingFound is the message where no row is left, with what else to name.
func (f *filter) nothingFound() string {
	what := "No add-ons found"
	if f.name != "" {
		what = fmt.Sprintf("No add-on %q found", f.name)
	}
	switch {
	case f.selector != nil && f.namespace == "":
		return fmt.Sprintf("%s on managed clusters with the labels %s.", what, f.selector)
	case f.namespace == "":
		return what + " on any managed cluster."
	}
	where := fmt.Sprintf("managed cluster %q", f.namespace)
	if f.implied {
		where += ", the kubeconfig's namespace"
	}
	return fmt.Sprintf("%s on %s; name another with -n, or all with -A.", what, where)
}

// nothingMatches says that there are rows, and that the filter keeps none.
func (f *filter) nothingMatches(rows int) string {
	var wanted []string
	if f.failing {
		wanted = append(wanted, "failing")
	}
	if len(f.reasons) > 0 {
		wanted = append(wanted, "of reason "+strings.Join(f.reasons, " or "))
	}
	if rows == 1 {
		return fmt.Sprintf("The only add-on is not %s.", strings.Join(wanted, " and "))
	}
	return fmt.Sprintf("None of %d add-ons is %s.", rows, strings.Join(wanted, " and "))
}
