package coexistence

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// addOnNamespace is where OCM installs add-ons on a managed cluster.
const addOnNamespace = "open-cluster-management-agent-addon"

// The states of a dependent, as its stock writer reports them.
const (
	live      = "live"      // the lease is renewed
	stopped   = "stopped"   // it was, long ago
	none      = "none"      // there is no lease
	healthy   = "healthy"   // the pods run
	failing   = "failing"   // the pods do not become ready
	absent    = "absent"    // there are no pods
	unapplied = "unapplied" // the work is not applied
)

// example is an add-on whose Required dependency will be missing, unless it is
// independent.
type example struct {
	// kind says which stock component writes Available: the registration agent
	// from a lease, OCM's add-on manager for an AddOnTemplate, or addon-framework
	// with one of its probers.
	kind, state string
	// disputed: two other writers set another condition, each to its own value.
	disputed bool
	// independent: it declares no dependency, so that only agents and clusters affect it.
	independent bool
	// stock is what the stock component writes.
	stock condition
}

type condition struct {
	status metav1.ConditionStatus
	reason string
}

func (c *example) name() string {
	name := c.kind + "-" + c.state
	if c.disputed {
		name += "-disputed"
	}
	if c.independent {
		name += "-independent"
	}
	return name
}

var cases = allCases()

func allCases() []*example {
	renewed := condition{metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated"}
	absentLease := condition{metav1.ConditionUnknown, "ManagedClusterAddOnLeaseNotFound"}
	all := []*example{
		{kind: "lease", state: live, stock: renewed},
		{kind: "lease", state: stopped, stock: condition{metav1.ConditionFalse, "ManagedClusterAddOnLeaseUpdateStopped"}},
		{kind: "lease", state: none, stock: absentLease},
		{kind: "lease", state: live, disputed: true, stock: renewed},
		{kind: "lease", state: none, disputed: true, stock: absentLease},
		{kind: "lease", state: live, independent: true, stock: renewed},
	}
	for _, kind := range []string{"template", "work", "deployment", "workload"} {
		all = append(all,
			&example{kind: kind, state: healthy, stock: condition{metav1.ConditionTrue, "ProbeAvailable"}},
			&example{kind: kind, state: failing, stock: condition{metav1.ConditionFalse, "ProbeUnavailable"}},
			&example{kind: kind, state: absent, stock: condition{metav1.ConditionUnknown, "NoProbeResult"}},
			&example{kind: kind, state: unapplied, stock: condition{metav1.ConditionFalse, "WorkNotApplied"}},
		)
	}
	return all
}

func dependents() []*example {
	return slices.DeleteFunc(slices.Clone(cases), func(c *example) bool { return c.independent })
}
