package facts

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/outage"
)

// The sign of life of an agent that runs as an add-on is Available of that add-on.
// OCM sets it, so the sign of life needs no write of its own:
//   - OCM's add-on manager sets it by the ready pods of the agent's Deployment, where
//     OCM deploys the agent;
//   - OCM's registration agent sets it by the agent's lease, where the agent is run by
//     hand;
//   - OCM's hub sets it to Unknown when the whole cluster is lost.

// SignsOfLife reads whether the agents of clusters run.
type SignsOfLife struct {
	Fleet   hubcache.Reader
	Outages *outage.Tracker
	// Silent remembers since when an agent's sign of life is missing.
	Silent *outage.Tracker
}

// signOfLife is what is known of the agent that reported the facts of a cluster.
type signOfLife struct {
	// ended is why the agent does not run. It is empty while the agent runs, and
	// for an agent that is not an add-on.
	ended string
	// heldUntil is until when the agent may still come back.
	heldUntil time.Time
}

// of reads the sign of life of the agent that wrote the object, which may be nil.
func (s SignsOfLife) of(ctx context.Context, cluster string, object *facts) (signOfLife, error) {
	if object == nil || object.Status.AgentAddOn == "" {
		return signOfLife{}, nil
	}
	key := types.NamespacedName{Namespace: cluster, Name: object.Status.AgentAddOn}
	addOn, err := s.Fleet.AddOn(ctx, key)
	if err != nil {
		return signOfLife{}, err
	}
	why := ended(key.Name, addOn)
	if why == "" {
		s.Silent.Reported(key)
		return signOfLife{}, nil
	}
	until, err := s.heldUntil(ctx, key, addOn)
	return signOfLife{ended: why, heldUntil: until}, err
}

// heldUntil returns until when an agent without a sign of life may still come
// back. It may be starting: on a node that was down, OCM's agent can start
// first. After a loss of the cluster it has as much time as other add-ons.
func (s SignsOfLife) heldUntil(ctx context.Context, key types.NamespacedName, addOn *addonv1alpha1.ManagedClusterAddOn) (time.Time, error) {
	since, patience := s.Silent.Found(key), evaluation.ReportTime
	managed, err := s.Fleet.Cluster(ctx, key.Namespace)
	if err != nil || managed == nil || fleet.ClusterStatus(managed) == "" {
		return since.Add(patience), err
	}
	if addOn != nil && availability.ClusterLost(fleet.Available(addOn)) {
		since, patience = s.Outages.Found(key), evaluation.SettleTime
	}
	back := s.Outages.Observe(key.Namespace, fleet.ClusterStatus(managed))
	return evaluation.Later(since, back).Add(patience), nil
}

// ended returns why the agent does not run, from its own add-on; empty: it runs.
// An agent whose Available was never set has just been installed.
func ended(name string, addOn *addonv1alpha1.ManagedClusterAddOn) string {
	if addOn == nil {
		return fmt.Sprintf("the managed cluster has no addon-agent any more (ManagedClusterAddOn %s is not installed)", name)
	}
	available := fleet.Available(addOn)
	if available == nil || available.Status == metav1.ConditionTrue {
		return ""
	}
	return fmt.Sprintf("the managed cluster's addon-agent does not run (%s: Available=%s, %s, since %s)",
		name, available.Status, available.Reason, available.LastTransitionTime.UTC().Format(time.RFC3339))
}
