package protection

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/factsobject"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// storedFacts are the ManagedClusterFacts of a managed cluster, as they are stored, with its agent.
type storedFacts struct {
	// object is nil where nothing was requested.
	object *dependencyv1alpha1.ManagedClusterFacts
	// agent is nil where addon-agent is not installed as an add-on.
	agent *addonv1alpha1.ManagedClusterAddOn
}

// known returns the facts for a decision that cannot wait, such as a refusal: the last report counts, however old. A
// version that was not reported is that of the AddOnTemplate, the ManagedClusterAddOn or the registration. So it makes no
// difference whether the agent was requested before to report it.
func (s storedFacts) known() evaluation.Facts {
	if !fleet.HasReports(s.object) {
		return evaluation.Facts{}
	}
	return fleet.FactsOf(s.object)
}

// awaiting returns the facts for a decision that can wait, such as a gate: a report is due for all that a live agent has
// not reported. It is also due where the agent does not run, on a cluster that is reached: addon-manager then decides.
func (s storedFacts) awaiting(now time.Time) evaluation.Facts {
	switch {
	case s.agent == nil && !fleet.HasReports(s.object):
		if s.object == nil {
			return evaluation.Facts{}
		}
		return evaluation.Facts{Requested: fleet.RequestedAt(s.object)}
	case s.object == nil, s.ended():
		return awaited(now)
	}
	facts := fleet.FactsOf(s.object)
	facts.Requested = now
	return facts
}

// ended reports whether the agent that has reported does not run.
func (s storedFacts) ended() bool {
	agent := s.object.Status.AgentAddOn
	return agent != "" && fleet.Ended(agent, s.agent) != ""
}

// awaited are the facts of a managed cluster where any may still be reported, so that verdicts on them are held.
func awaited(now time.Time) evaluation.Facts { return evaluation.Facts{Requested: now} }

// factsOf reads the facts of a managed cluster once, when they are first needed.
func (r reviewer) factsOf(ctx context.Context, cluster string) func() (storedFacts, error) {
	return sync.OnceValues(func() (stored storedFacts, err error) {
		object := &dependencyv1alpha1.ManagedClusterFacts{}
		switch err := r.live.Get(ctx, factsobject.Key(cluster), object); {
		case meta.IsNoMatchError(err): // no agent can report
			return storedFacts{}, nil
		case apierrors.IsNotFound(err):
		case err != nil:
			return storedFacts{}, fmt.Errorf("read ManagedClusterFacts %s: %w", cluster, err)
		default:
			stored.object = object
		}
		stored.agent, err = r.finding(ctx, cluster)(cmp.Or(object.Status.AgentAddOn, names.AgentAddOn))
		return stored, err
	})
}
