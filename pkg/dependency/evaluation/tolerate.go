package evaluation

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/availability"
)

// unwitnessed is the reason of a held verdict on an add-on that is unavailable for an unknown time.
const unwitnessed = "it is not available, and since when is not known"

// Lapse is the time during which an add-on that was available is unavailable, by the hub's clock. It is zero if the add-on
// is available, if it was never available, or if no edge tolerates unavailability.
type Lapse struct {
	Since time.Time `json:"since,omitzero"`
	// Unwitnessed is true if the add-on was unavailable when it was first observed. It may never have been available.
	Unwitnessed bool `json:"unwitnessed,omitempty"`
}

// Works reports whether an add-on is installed and available, and its own Required dependencies do not fail.
func (o *Observation) Works() bool {
	return o.Installed && !availability.RequiredFails(o.Degraded) && o.Available != nil && o.Available.Status == metav1.ConditionTrue
}

// tolerate delays the finding that an add-on is unavailable by the time that the edge tolerates. If the beginning of the
// unavailability is unknown, the last verdict is held instead: a restart of addon-manager must not change it.
func tolerate(g *grounds, f *Finding, observed *Observation) {
	unavailability := observed.Lapse
	until := unavailability.Since.Add(g.edge.Tolerate)
	switch {
	case g.edge.Tolerate == 0 || unavailability.Since.IsZero() || !g.cluster.Now.Before(until):
	case unavailability.Unwitnessed:
		*f = Finding{Dependency: f.Dependency, Verdict: Held, Until: until, Detail: f.Detail}
		f.detail().Because, f.Detail.Unwitnessed = unwitnessed, true
	default:
		f.Verdict, f.Until = Tolerated, until
	}
}

// Unwitnessed reports whether the verdict is held because the beginning of the unavailability is unknown. The message of a
// condition then stays, because the previous leader may have known it.
func (f Finding) Unwitnessed() bool { return f.Held() && f.Detail != nil && f.Detail.Unwitnessed }

// withTolerance prepends the end of the tolerated time to a description.
func (f *Finding) withTolerance(description string) string {
	if f.Verdict != Tolerated {
		return description
	}
	return fmt.Sprintf("tolerated until %s: %s", f.Until.UTC().Format(time.RFC3339), description)
}
