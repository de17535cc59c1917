package evaluation

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
)

// ReportTime is the time that the agent of a managed cluster has for the report of a requested
// fact. Until then, an edge that needs the fact is held, because a new edge must not degrade a
// whole fleet while its agents prepare their reports.
const ReportTime = 30 * time.Second

// Facts has the reports of the agent of one managed cluster. The zero value
// describes a cluster without requested facts.
type Facts struct {
	// Requested is the time of the newest request, or the time at which this process began to wait. It is zero if
	// that was long ago.
	Requested time.Time `json:"requested,omitzero"`
	// HeldUntil is set while the agent may still report after a loss of its
	// cluster. Until then, earlier reports do not count.
	HeldUntil time.Time `json:"heldUntil,omitzero"`
	// APIs has the reports on APIs. An API that is missing in the map is not reported yet.
	APIs APIFacts `json:"apis,omitempty"`
	// Versions has the reports on the versions of add-ons, by their names. An add-on that is missing
	// in the map is not reported yet.
	Versions map[string]VersionFact `json:"versions,omitempty"`
}

// APIFact is the report on one API.
type APIFact struct {
	// Served is True or False, or Unknown if the agent could not find out.
	Served metav1.ConditionStatus `json:"served,omitempty"`
	// Versions are the served versions of the kind.
	Versions []string `json:"versions,omitempty"`
	// Fields has the reports on the fields of its schema, by their paths. A field that is missing in
	// the map is not reported yet.
	Fields map[string]FieldFact `json:"fields,omitempty"`
	// Message explains why Served is Unknown.
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
	// Exists is True or False, or Unknown if the agent could not find out.
	Exists metav1.ConditionStatus `json:"found,omitempty"`
	// Versions are the versions of the API whose schema has the field.
	Versions []string `json:"versions,omitempty"`
	// Message explains why Exists is Unknown.
	Message string `json:"message,omitempty"`
}

// VersionFact is the report on the version of one add-on.
type VersionFact struct {
	// Version is the version on the add-on's lease, or empty.
	Version string `json:"version,omitempty"`
	// Former is true if the lease has only the annotation's former key.
	Former bool `json:"former,omitempty"`
	// Message explains why there is no version.
	Message string `json:"message,omitempty"`
}

// annotated returns the version by the key of the lease's annotation.
func (f VersionFact) annotated() versions.Annotated {
	if f.Former {
		return versions.Annotated{Former: f.Version}
	}
	return versions.Annotated{Current: f.Version}
}

// factsHeld returns the time until which the agent may still report after a loss of the cluster. The second result is
// false if that time has passed.
func (c *Cluster) factsHeld() (time.Time, bool) {
	until := c.Facts.HeldUntil
	return until, c.Offline == OfflineHold && c.Now.Before(until)
}

// factsDue returns the time until which a report of the agent may change a held verdict. It is zero if no report is
// awaited. The second result is true if a live agent has to send the report.
func (c *Cluster) factsDue() (time.Time, bool) {
	if until, held := c.factsHeld(); held {
		return until, false
	}
	if until, pending := c.reportDue(); pending {
		return until, true
	}
	return time.Time{}, false
}

// reportDue returns the time at which the cluster's agent should have reported the requested facts. The second result is
// false if that time has passed. Requests for a lost cluster count from its return. Both times are stored, so a new leader
// does not wait again for a late report.
func (c *Cluster) reportDue() (time.Time, bool) {
	due := Later(c.Facts.Requested, c.returned()).Add(ReportTime)
	return due, !c.Facts.Requested.IsZero() && c.Now.Before(due)
}

// returned returns the time at which the cluster came back. A time far in the future is from a wrong clock, and is ignored.
func (c *Cluster) returned() time.Time {
	if c.Returned.After(c.Now.Add(ReportTime)) {
		return time.Time{}
	}
	return c.Returned
}
