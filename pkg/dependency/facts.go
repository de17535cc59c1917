package dependency

import (
	"time"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// answerTime is how long the agent of a managed cluster may take to answer a
// question, before an edge that needs the answer counts as unsatisfied. Until
// then such an edge is held: a new edge must not degrade a whole fleet for the
// moment that its agents need.
const answerTime = time.Minute

// Facts is what the agent of one managed cluster has answered. The zero value
// is that of a cluster whose agent nobody has asked.
type Facts struct {
	// Asked is since when questions have been waiting for an answer: when the
	// newest of them was asked, or when this process began to wait. Zero is
	// long ago.
	Asked time.Time
	// APIs says of an API whether the cluster serves it. What is not in the
	// map is not answered yet.
	APIs map[addonv1alpha1.AddonAPI]bool
	// Versions says of an add-on which version its lease reports, empty where
	// it reports none. What is not in the map is not answered yet.
	Versions map[string]string
}

// answerDue is when the cluster's agent should have answered.
func (f Facts) answerDue() time.Time { return f.Asked.Add(answerTime) }
