package evaluation

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// ReportTime is how long the agent of a managed cluster may take to report
// a fact, before an edge that needs it counts as unsatisfied. Until
// then such an edge is held: a new edge must not degrade a whole fleet for the
// moment that its agents need.
const ReportTime = 30 * time.Second

// Facts is what the agent of one managed cluster has reported. The zero value
// is that of a cluster without requested facts.
type Facts struct {
	// Requested is since when facts have been awaited: when the newest of them was
	// requested, or when this process began to wait. Zero is long ago.
	Requested time.Time `json:"requested,omitzero"`
	// HeldUntil is set while the agent may still report after a loss of its
	// cluster: until then, what it reported before counts neither way.
	HeldUntil time.Time `json:"heldUntil,omitzero"`
	// APIs are the reports on APIs. What is not in the map is not reported yet.
	APIs APIFacts `json:"apis,omitempty"`
	// Versions are the reports on the versions of add-ons, by their names.
	// What is not in the map is not reported yet.
	Versions map[string]VersionFact `json:"versions,omitempty"`
}

// APIFact is the report on one API.
type APIFact struct {
	// Served is True or False; Unknown where the agent could not find out.
	Served metav1.ConditionStatus `json:"served,omitempty"`
	// Versions are those in which the kind is served.
	Versions []string `json:"versions,omitempty"`
	// Fields are the reports on the fields of its schema, by their paths. What is not in
	// the map is not reported yet.
	Fields map[string]FieldFact `json:"fields,omitempty"`
	// Message says why Served is Unknown.
	Message string `json:"message,omitempty"`
}

// Awaited reports whether the report on the API lacks one of these fields.
func (f APIFact) Awaited(fields []string) bool {
	return f.Served == metav1.ConditionTrue && slices.ContainsFunc(fields, func(path string) bool {
		_, reported := f.Fields[path]
		return !reported
	})
}

// FieldFact is the report on one field of the schema of an API that is served.
type FieldFact struct {
	// Found is True or False; Unknown where the agent could not find out.
	Found metav1.ConditionStatus `json:"found,omitempty"`
	// Versions are those whose schema has the field.
	Versions []string `json:"versions,omitempty"`
	// Message says why Found is Unknown.
	Message string `json:"message,omitempty"`
}

// VersionFact is the report on the version of one add-on.
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

// factsDue returns the moment until which a report of the agent may change a verdict that is held, and whether a
// live agent has still to send it. The moment is zero where no report is awaited.
func (c *Cluster) factsDue() (until time.Time, due bool) {
	if until, held := c.factsHeld(); held {
		return until, false
	}
	if until, pending := c.answerDue(); pending {
		return until, true
	}
	return time.Time{}, false
}

// answerDue is when the cluster's agent should have reported what was
// requested, and whether that is still to come. What was requested while the
// cluster was away counts from its return. Both moments are stored, so a leader
// that starts does not await again what was not reported in time.
func (c *Cluster) answerDue() (time.Time, bool) {
	due := Later(c.Facts.Requested, c.returned()).Add(ReportTime)
	return due, !c.Facts.Requested.IsZero() && c.Now.Before(due)
}

// returned is when the cluster came back. A moment that lies far ahead is by a clock that is wrong, and does not count.
func (c *Cluster) returned() time.Time {
	if c.Returned.After(c.Now.Add(ReportTime)) {
		return time.Time{}
	}
	return c.Returned
}
