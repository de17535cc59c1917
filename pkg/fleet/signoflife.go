package fleet

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// The sign of life of an agent that runs as an add-on is Available of that add-on.
// OCM sets it, so the sign of life needs no write of its own:
//   - OCM's add-on manager sets it by the ready pods of the agent's Deployment, where
//     OCM deploys the agent;
//   - OCM's registration agent sets it by the agent's lease, where the agent is run by
//     hand;
//   - OCM's hub sets it to Unknown when the whole cluster is lost.

// SignOfLife is the state of the agent that reported the facts of a cluster.
type SignOfLife struct {
	// Ended is the reason why the agent does not run. It is empty while the agent runs, and
	// for an agent that is not an add-on.
	Ended string
	// HeldUntil is the end of the time in which the agent may still come back.
	HeldUntil time.Time
}

// SignOfLife reads the state of the agent that wrote the object, which may be nil.
func (a Agents) SignOfLife(ctx context.Context, cluster string, object *dependencyv1alpha1.ManagedClusterFacts) (SignOfLife, error) {
	if object == nil || object.Status.AgentAddOn == "" {
		return SignOfLife{}, nil
	}
	key := types.NamespacedName{Namespace: cluster, Name: object.Status.AgentAddOn}
	addOn, err := a.Objects.AddOn(ctx, key)
	if err != nil {
		return SignOfLife{}, err
	}
	reason := Ended(key.Name, addOn)
	if reason == "" {
		a.Memory.Alive(key)
		return SignOfLife{}, nil
	}
	until, err := a.heldUntil(ctx, key, addOn)
	return SignOfLife{Ended: reason, HeldUntil: until}, err
}

// heldUntil returns the end of the time in which an agent without a sign of life may
// still come back. It may be starting: on a node that was down, OCM's agent can start
// first. After a loss of the cluster it has as much time as other add-ons.
func (a Agents) heldUntil(ctx context.Context, key types.NamespacedName, addOn *addonv1alpha1.ManagedClusterAddOn) (time.Time, error) {
	since, patience := a.Memory.Silent(key), evaluation.ReportTime
	managed, err := a.Objects.Cluster(ctx, key.Namespace)
	if err != nil || managed == nil || ClusterStatus(managed) == "" {
		return since.Add(patience), err
	}
	if addOn != nil && availability.ClusterLost(Available(addOn)) {
		since, patience = a.Memory.Found(key), evaluation.SettleTime
	}
	back := a.Memory.Back(key.Namespace, ClusterStatus(managed))
	return evaluation.Later(since, back).Add(patience), nil
}

// Ended returns the reason why the agent does not run, from its own add-on. It is empty
// if the agent runs. An agent whose Available was never set has just been installed.
func Ended(name string, addOn *addonv1alpha1.ManagedClusterAddOn) string {
	if addOn == nil {
		return fmt.Sprintf("the managed cluster has no addon-agent any more (ManagedClusterAddOn %s is not installed)", name)
	}
	available := Available(addOn)
	if available == nil || available.Status == metav1.ConditionTrue {
		return ""
	}
	return fmt.Sprintf("the managed cluster's addon-agent does not run (%s: Available=%s, %s, since %s)",
		name, available.Status, available.Reason, available.LastTransitionTime.UTC().Format(time.RFC3339))
}
