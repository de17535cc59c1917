package facts

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/kube/events"
)

// EventNotServed is the reason of the event on a ClusterManagementAddOn whose
// dependencies need facts while the hub does not serve ManagedClusterFacts.
const EventNotServed = "ManagedClusterFactsNotServed"

// enqueueChanged enqueues the add-ons of a cluster whose needed facts have changed since
// their last evaluation.
func (r *Reconciler) enqueueChanged(
	ctx context.Context, cluster string, evaluator *evaluation.Evaluator, addOns []types.NamespacedName, current snapshot,
) {
	previous := r.remember(cluster, current)
	if previous == current {
		return
	}
	previousFacts, currentFacts := fleet.FactsOf(previous.object), fleet.FactsOf(current.object)
	var concerned []types.NamespacedName
	for _, addOn := range addOns {
		needed := needsOf(evaluator.Catalog, addOn, cluster)
		if !needed.Empty() && (previous.state != current.state || previous.ended != current.ended || differ(previousFacts, currentFacts, needed)) {
			concerned = append(concerned, addOn)
		}
	}
	if len(concerned) > 0 {
		r.Evaluate.Enqueue(concerned...)
		log.FromContext(ctx).V(1).Info("The facts of a cluster have changed", "cluster", cluster, "concerned", namesOf(concerned))
	}
}

// remember stores the snapshot of a cluster, and returns the previous one.
func (r *Reconciler) remember(cluster string, current snapshot) snapshot {
	var value any
	if current.object == nil && current.state == Served {
		value, _ = r.seen.LoadAndDelete(cluster) // the same state as before the first request
	} else {
		value, _ = r.seen.Swap(cluster, current)
	}
	previous, _ := value.(snapshot)
	return previous
}

// phase returns the progress of the request for the facts of a cluster.
func phase(current snapshot, needed needs) metrics.FactsPhase {
	object := current.object
	switch {
	case needed.Empty():
		return metrics.FactsNone
	case current.state == Absent:
		return metrics.FactsNotServed
	case object != nil && object.Status.ObservedGeneration == object.Generation && current.ended == "":
		return metrics.FactsReported
	default:
		return metrics.FactsWaiting
	}
}

// reportNotServed emits an event on each add-on that needs facts while the hub does not
// serve them. It emits one event for each such period.
func (r *Reconciler) reportNotServed(ctx context.Context, evaluator *evaluation.Evaluator, addOns []types.NamespacedName) error {
	var added []string
	for _, addOn := range addOns {
		if _, emitted := r.notServed.Load(addOn.Name); !emitted && !evaluator.Requests(addOn.Name).Empty() {
			added = append(added, addOn.Name)
		}
	}
	if len(added) == 0 {
		return nil
	}
	registrations, err := r.Fleet.AddOns(ctx)
	if err != nil {
		return err
	}
	for i := range registrations {
		if !slices.Contains(added, registrations[i].Name) {
			continue
		}
		if _, emitted := r.notServed.LoadOrStore(registrations[i].Name, true); !emitted {
			r.Recorder.Eventf(events.About(events.ClusterManagementAddOn, &registrations[i]), nil, corev1.EventTypeWarning,
				EventNotServed, "RequestFacts", "%s",
				"Dependencies on APIs and on running versions cannot be evaluated: "+fleet.FactsNotServed)
		}
	}
	return nil
}
