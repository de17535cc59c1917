package protector

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
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/names"
)

// storedFacts are the stored ManagedClusterFacts of a managed cluster, with its agent.
type storedFacts struct {
	// object is nil if no facts were requested.
	object *dependencyv1alpha1.ManagedClusterFacts
	// agent is nil if addon-agent is not installed as an add-on.
	agent *addonv1alpha1.ManagedClusterAddOn
}

// lastReported returns the facts for a decision that cannot wait, such as a refusal: the last report counts, however old. Where the
// agent has reported no version, the AddOnTemplate, the ManagedClusterAddOn or the registration has the version. So it makes no
// difference whether the agent was requested before to report it.
func (s storedFacts) lastReported() evaluation.Facts {
	if !fleet.HasReports(s.object) {
		return evaluation.Facts{}
	}
	return fleet.FactsOf(s.object)
}

// awaitingReports returns the facts for a decision that can wait, such as a gate: a report is due for each fact that a live agent has
// not reported. It is also due if the agent does not run on a cluster that is reached: addon-manager then decides.
func (s storedFacts) awaitingReports(now time.Time) evaluation.Facts {
	switch {
	case s.agent == nil && !fleet.HasReports(s.object):
		if s.object == nil {
			return evaluation.Facts{}
		}
		return evaluation.Facts{Requested: fleet.RequestedAt(s.object)}
	case s.object == nil, s.agentEnded():
		return awaitedFacts(now)
	}
	facts := fleet.FactsOf(s.object)
	facts.Requested = now
	return facts
}

// agentEnded reports whether the agent that wrote the last report no longer runs.
func (s storedFacts) agentEnded() bool {
	agent := s.object.Status.AgentAddOn
	return agent != "" && fleet.Ended(agent, s.agent) != ""
}

// awaitedFacts returns the facts of a managed cluster whose agent may still report any of them. Verdicts on them are held.
func awaitedFacts(now time.Time) evaluation.Facts { return evaluation.Facts{Requested: now} }

// lazyFacts returns a function that reads the facts of a managed cluster when it is first called.
func (r reviewer) lazyFacts(ctx context.Context, cluster string) func() (storedFacts, error) {
	return sync.OnceValues(func() (storedFacts, error) {
		var stored storedFacts
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
		var err error
		stored.agent, err = r.readAddOn(ctx, cluster, cmp.Or(object.Status.AgentAddOn, names.AgentAddOn))
		return stored, err
	})
}
