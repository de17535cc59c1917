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
	stopped   = "stopped"   // the lease was last renewed long ago
	noLease   = "none"      // there is no lease
	healthy   = "healthy"   // the pods run
	failing   = "failing"   // the pods do not become ready
	noPods    = "absent"    // there are no pods
	unapplied = "unapplied" // the work is not applied
)

// example is a case: an add-on with a Required dependency that will be missing. An independent add-on has no dependency.
type example struct {
	// kind is the stock component that writes Available: the registration agent from a lease, OCM's add-on manager for an
	// AddOnTemplate, or addon-framework with one of its probers.
	kind, state string
	// disputed is whether two other writers set another condition, each to a value of its own.
	disputed bool
	// independent is whether the add-on declares no dependency, so that only agents and clusters affect it.
	independent bool
	// stock is the condition that the stock component writes.
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
	renewedLease := condition{metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated"}
	absentLease := condition{metav1.ConditionUnknown, "ManagedClusterAddOnLeaseNotFound"}
	examples := []*example{
		{kind: "lease", state: live, stock: renewedLease},
		{kind: "lease", state: stopped, stock: condition{metav1.ConditionFalse, "ManagedClusterAddOnLeaseUpdateStopped"}},
		{kind: "lease", state: noLease, stock: absentLease},
		{kind: "lease", state: live, disputed: true, stock: renewedLease},
		{kind: "lease", state: noLease, disputed: true, stock: absentLease},
		{kind: "lease", state: live, independent: true, stock: renewedLease},
	}
	for _, kind := range []string{"template", "work", "deployment", "workload"} {
		examples = append(examples,
			&example{kind: kind, state: healthy, stock: condition{metav1.ConditionTrue, "ProbeAvailable"}},
			&example{kind: kind, state: failing, stock: condition{metav1.ConditionFalse, "ProbeUnavailable"}},
			&example{kind: kind, state: noPods, stock: condition{metav1.ConditionUnknown, "NoProbeResult"}},
			&example{kind: kind, state: unapplied, stock: condition{metav1.ConditionFalse, "WorkNotApplied"}},
		)
	}
	return examples
}

func dependents() []*example {
	return slices.DeleteFunc(slices.Clone(cases), func(c *example) bool { return c.independent })
}
