package coexistence

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// example is an add-on whose Required dependency will be missing.
type example struct {
	// kind says which stock component writes Available: the registration agent
	// from a lease, OCM's add-on manager for an AddOnTemplate, or addon-framework
	// with one of its probers.
	kind, state string
	// disputed: two other writers set another condition, each to its own value.
	disputed bool
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
	return name
}

var cases = allCases()

func allCases() []*example {
	all := []*example{
		{"lease", live, false, condition{metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated"}},
		{"lease", stopped, false, condition{metav1.ConditionFalse, "ManagedClusterAddOnLeaseUpdateStopped"}},
		{"lease", none, false, condition{metav1.ConditionUnknown, "ManagedClusterAddOnLeaseNotFound"}},
		{"lease", live, true, condition{metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated"}},
		{"lease", none, true, condition{metav1.ConditionUnknown, "ManagedClusterAddOnLeaseNotFound"}},
	}
	for _, kind := range []string{"template", "work", "deployment", "workload"} {
		all = append(all,
			&example{kind, healthy, false, condition{metav1.ConditionTrue, "ProbeAvailable"}},
			&example{kind, failing, false, condition{metav1.ConditionFalse, "ProbeUnavailable"}},
			&example{kind, absent, false, condition{metav1.ConditionUnknown, "NoProbeResult"}},
			&example{kind, unapplied, false, condition{metav1.ConditionFalse, "WorkNotApplied"}},
		)
	}
	return all
}
