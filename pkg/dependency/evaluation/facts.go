package evaluation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// AnswerTime is how long the agent of a managed cluster may take to answer a
// question, before an edge that needs the answer counts as unsatisfied. Until
// then such an edge is held: a new edge must not degrade a whole fleet for the
// moment that its agents need.
const AnswerTime = 30 * time.Second

// Facts is what the agent of one managed cluster has answered. The zero value
// is that of a cluster whose agent nobody has asked.
type Facts struct {
	// Asked is since when questions have been waiting for an answer: when the
	// newest of them was asked, or when this process began to wait. Zero is
	// long ago.
	Asked time.Time `json:"asked,omitzero"`
	// HeldUntil is set while the agent may still report after a loss of its
	// cluster: until then, what it reported before counts neither way.
	HeldUntil time.Time `json:"heldUntil,omitzero"`
	// APIs are the answers on APIs. What is not in the map is not answered yet.
	APIs APIFacts `json:"apis,omitempty"`
	// Versions are the answers on the versions of add-ons, by their names.
	// What is not in the map is not answered yet.
	Versions map[string]VersionFact `json:"versions,omitempty"`
}

// APIFact is the answer on one API.
type APIFact struct {
	// Served is True or False; Unknown where the agent could not find out.
	Served metav1.ConditionStatus `json:"served,omitempty"`
	// Versions are those in which the kind is served.
	Versions []string `json:"versions,omitempty"`
	// Message says why Served is Unknown.
	Message string `json:"message,omitempty"`
}

// VersionFact is the answer on the version of one add-on.
type VersionFact struct {
	// Version is what the add-on's lease reports; empty where it reports none.
	Version string `json:"version,omitempty"`
	// Former: the lease has it under the annotation's former key only.
	Former bool `json:"former,omitempty"`
	// Message says why there is none.
	Message string `json:"message,omitempty"`
}

// annotated returns the version by the key under which the lease has it.
func (f VersionFact) annotated() versions.Annotated {
	if f.Former {
		return versions.Annotated{Former: f.Version}
	}
	return versions.Annotated{Current: f.Version}
}

// factsHeld reports whether, and until when, the agent may still report after a
// loss of the cluster.
func (c *Cluster) factsHeld() (time.Time, bool) {
	until := c.Facts.HeldUntil
	return until, c.Offline == OfflineHold && c.Now.Before(until)
}

// answerDue is when the cluster's agent should have reported what was
// requested, and whether that is still to come. What was requested while the
// cluster was away counts from its return.
func (c *Cluster) answerDue() (time.Time, bool) {
	due := later(c.Facts.Asked, c.Back).Add(AnswerTime)
	return due, !c.Facts.Asked.IsZero() && c.Now.Before(due)
}
