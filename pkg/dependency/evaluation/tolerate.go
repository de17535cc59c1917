package evaluation

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/availability"
)

// unwitnessed is why a verdict is held where since when an add-on is not available is not known.
const unwitnessed = "it is not available, and since when is not known"

// Lapse is since when an add-on that was available is not, by the hub's clock. It is zero
// where it is available, where it never was, and where no edge tolerates it.
type Lapse struct {
	Since time.Time `json:"since,omitzero"`
	// Unwitnessed: it was not available when it was first observed, and may never have been.
	Unwitnessed bool `json:"unwitnessed,omitempty"`
}

// Works reports whether an add-on is installed and available, and no Required dependency
// of its own fails.
func (o *Observation) Works() bool {
	return o.Installed && !availability.RequiredFails(o.Degraded) && o.Available != nil && o.Available.Status == metav1.ConditionTrue
}

// tolerate turns the finding that an add-on is not available into one that counts only
// after the time that the edge tolerates. Where the beginning was not witnessed, the last
// verdict counts meanwhile: a restart of addon-manager must not end what it does not know.
func tolerate(g *given, f *Finding, observed *Observation) {
	lapse := observed.Lapse
	until := lapse.Since.Add(g.edge.Tolerate)
	switch {
	case g.edge.Tolerate == 0 || lapse.Since.IsZero() || !g.cluster.Now.Before(until):
	case lapse.Unwitnessed:
		*f = Finding{Dependency: f.Dependency, Verdict: Held, Until: until, Detail: f.Detail}
		f.detail().Because, f.Detail.Unwitnessed = unwitnessed, true
	default:
		f.Verdict, f.Until = Tolerated, until
	}
}

// Unwitnessed reports whether the verdict is held because it is unknown how long the add-on has been unavailable. The message of a condition
// then stays, because the leader before may have known it.
func (f Finding) Unwitnessed() bool { return f.Held() && f.Detail != nil && f.Detail.Unwitnessed }

// tolerated adds until when that is tolerated to what was found.
func (f *Finding) tolerated(found string) string {
	if f.Verdict != Tolerated {
		return found
	}
	return fmt.Sprintf("tolerated until %s: %s", f.Until.UTC().Format(time.RFC3339), found)
}
