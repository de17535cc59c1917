// Package facts requests from the agents of managed clusters the facts that the
// dependencies of the add-ons there need. It enqueues the add-ons whose facts change.
package facts

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/names"
)

// Objects reads the ManagedClusterFacts of the hub; see Informer.
type Objects interface {
	State() State
	Get(types.NamespacedName) *facts
	List() []*facts
}

// Reconciler keeps the request for facts in the ManagedClusterFacts of one managed
// cluster. It enqueues the add-ons there whose facts change.
type Reconciler struct {
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	Informer     Objects
	Writer       client.Client
	Backoff      *backoff.Tracker
	Reader       *Reader
	Metrics      *metrics.Metrics
	Recorder     events.EventRecorder

	// Request triggers this controller.
	Request *trigger.Trigger
	// Evaluate triggers the evaluation of add-ons.
	Evaluate *trigger.Trigger

	// seen has, by cluster, the snapshot of the last evaluation of its add-ons.
	seen sync.Map
	// notServed has the add-ons with an emitted event ManagedClusterFactsNotServed.
	notServed sync.Map
}

// snapshot has the objects and states behind the facts of one cluster.
type snapshot struct {
	state  State
	object *facts
	// ended is the reason why the agent that wrote the object does not run. It is empty if the agent runs.
	ended string
}

// Reconcile requests the needed facts of a cluster, and enqueues the add-ons there
// whose facts have changed.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	evaluator, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if request.NamespacedName == everyCluster {
		return reconcile.Result{}, r.enqueueClusters(ctx, evaluator)
	}
	cluster := request.Name
	addOns, err := loadAddOns(ctx, r.Fleet, cluster)
	if err != nil {
		return reconcile.Result{}, err
	}
	current, err := r.current(ctx, cluster)
	if err != nil {
		return reconcile.Result{}, err
	}
	keys := addOns.keys()
	r.enqueueChanged(ctx, cluster, evaluator, keys, current)
	needed, spec := desiredSpec(evaluator, addOns, current.object)
	if needed.Empty() {
		r.Reader.Memory.forget(cluster)
	}
	r.Metrics.SetFacts(cluster, phase(current, needed))
	switch {
	case current.state == Absent:
		return reconcile.Result{}, r.reportNotServed(ctx, evaluator, keys)
	case current.state != Served:
		return reconcile.Result{}, nil // every cluster is enqueued once the state is known
	case len(spec.APIs) == 0 && len(spec.AddOns) == 0 && len(spec.Objects) == 0:
		return reconcile.Result{}, r.retract(ctx, current.object)
	default:
		return r.request(ctx, cluster, current.object, spec)
	}
}

// enqueueClusters enqueues every cluster with facts that are or were requested.
func (r *Reconciler) enqueueClusters(ctx context.Context, evaluator *evaluation.Evaluator) error {
	if r.Informer.State() == Served {
		r.notServed.Clear()
	}
	for _, object := range r.Informer.List() {
		r.Request.Enqueue(clusterKey(object.Namespace))
	}
	for _, addOn := range evaluator.AddOns() {
		if !requestsAny(evaluator.Catalog, addOn) {
			continue
		}
		keys, err := r.Fleet.Installed(ctx, addOn)
		if err != nil {
			return err
		}
		for _, key := range keys {
			r.Request.Enqueue(clusterKey(key.Namespace))
		}
		hosts, err := r.Fleet.Hosts(ctx, addOn)
		if err != nil {
			return err
		}
		for _, host := range hosts {
			r.Request.Enqueue(clusterKey(host))
		}
	}
	return nil
}

// current reads the snapshot of a cluster.
func (r *Reconciler) current(ctx context.Context, cluster string) (snapshot, error) {
	current := snapshot{state: r.Informer.State(), object: r.Informer.Get(factsobject.Key(cluster))}
	sign, err := r.Reader.agents().SignOfLife(ctx, cluster, current.object)
	current.ended = sign.Ended
	return current, err
}

// request writes the spec unless the object has it already.
func (r *Reconciler) request(ctx context.Context, cluster string, current *facts, spec requested) (reconcile.Result, error) {
	if current != nil && apiequality.Semantic.DeepEqual(current.Spec, spec) {
		return reconcile.Result{}, nil
	}
	key := factsobject.Key(cluster)
	if wait := r.Backoff.Wait(key, backoff.Field("spec", spec)); wait > 0 && current != nil {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	configuration, err := factsobject.Configuration(key, "", "spec", &spec, emptySpec(current))
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	err = r.Writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration), client.FieldOwner(names.AddonManager), client.ForceOwnership)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return reconcile.Result{}, nil // its add-ons will be deleted, and then nothing is requested
	case err != nil:
		r.Metrics.FactsWrote(metrics.WriteError)
		return reconcile.Result{}, fmt.Errorf("request facts of cluster %s: %w", cluster, err)
	}
	r.Metrics.FactsWrote(metrics.WriteSuccess)
	contested := r.Backoff.Wrote(key, backoff.Field("spec", spec))
	log.FromContext(ctx).Info("Requested facts of a cluster", "cluster", cluster,
		"apis", len(spec.APIs), "addOns", len(spec.AddOns), "objects", len(spec.Objects), "contested", contested)
	return reconcile.Result{}, nil
}

// emptySpec returns the fields of a spec that JSON omits if they are empty. The CRD of an earlier Interlock lacks the field objects.
func emptySpec(current *facts) map[string]any {
	empty := map[string]any{"apis": []any{}, "addOns": []any{}}
	if current != nil && len(current.Spec.Objects) > 0 {
		empty["objects"] = []any{}
	}
	return empty
}

// retract deletes the object of a cluster without requested facts.
func (r *Reconciler) retract(ctx context.Context, current *facts) error {
	if current == nil {
		return nil
	}
	key := client.ObjectKeyFromObject(current)
	err := r.Writer.Delete(ctx, &facts{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}},
		client.Preconditions{UID: &current.UID})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		r.Metrics.FactsWrote(metrics.WriteError)
		return fmt.Errorf("delete the ManagedClusterFacts of cluster %s: %w", key.Name, err)
	}
	r.Metrics.FactsWrote(metrics.WriteSuccess)
	r.Backoff.Forget(key)
	log.FromContext(ctx).Info("Stopped requesting facts of a cluster", "cluster", key.Name)
	return nil
}

func namesOf(keys []types.NamespacedName) []string {
	addOnNames := make([]string, len(keys))
	for i, key := range keys {
		addOnNames[i] = key.Name
	}
	return addOnNames
}
