// Package facts asks the agents of managed clusters what the dependencies of
// the add-ons there need to know, and has those add-ons evaluated whose answer
// has changed.
package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/contention"
	"open-cluster-management.io/interlock/pkg/factsinformer"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

// FieldManager is the name under which addon-manager owns the questions.
const FieldManager = "interlock-addon-manager"

// Informer is where the objects are read; see package factsinformer.
type Informer interface {
	State() factsinformer.State
	Get(types.NamespacedName) *factsinformer.Facts
	List() []*factsinformer.Facts
}

// Reconciler keeps the questions to one managed cluster, and tells of its
// answers.
type Reconciler struct {
	Fleet        fleet.Reader
	Declarations *declarations.Store
	Informer     Informer
	Writer       client.Client
	Contention   *contention.Tracker
	Signs        SignsOfLife
	Metrics      *metrics.Metrics
	Recorder     events.EventRecorder
	// Wake has the add-ons of these keys evaluated anew.
	Wake func(ctx context.Context, keys []types.NamespacedName) error
	// Forget is told of each cluster of which nothing is asked; nil: nobody is.
	Forget func(cluster string)

	mutex sync.Mutex
	told  map[string]told // by cluster
	// announced are the add-ons of which was told that nobody can be asked.
	announced map[string]bool
}

// told is what the add-ons of a cluster were last evaluated with.
type told struct {
	state  factsinformer.State
	object *facts
	// ended is why the agent that wrote the object does not live; empty: it lives.
	ended string
}

// Reconcile asks the cluster of that name what is to be asked, and wakes the
// add-ons there whose answers have changed.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cluster := request.Name
	catalog, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	addOns, err := r.Fleet.OnCluster(ctx, cluster)
	if err != nil {
		return reconcile.Result{}, err
	}
	all := askable(catalog.Requests(names(addOns)...))
	current, err := r.current(ctx, cluster)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.tellAnswers(ctx, cluster, catalog, addOns, current); err != nil {
		return reconcile.Result{}, err
	}
	if current.object != nil && undecided(catalog, addOns) {
		all = merged(all, current.object.Spec)
	}
	if all.Empty() && r.Forget != nil {
		r.Forget(cluster)
	}
	r.Metrics.Asked(cluster, standing(current, all))
	switch {
	case current.state == factsinformer.Absent:
		return reconcile.Result{}, r.tellAbsent(ctx, catalog, addOns)
	case current.state != factsinformer.Served:
		return reconcile.Result{}, nil // everybody is woken once that is known
	case all.Empty():
		return reconcile.Result{}, r.retract(ctx, current.object)
	default:
		return r.ask(ctx, cluster, current.object, specOf(all))
	}
}

// current reads what the add-ons of a cluster are evaluated with now.
func (r *Reconciler) current(ctx context.Context, cluster string) (told, error) {
	current := told{state: r.Informer.State(), object: r.Informer.Get(keyOf(cluster))}
	sign, err := r.Signs.of(ctx, cluster, current.object)
	current.ended = sign.ended
	return current, err
}

// ask puts the questions where they are not those that are there.
func (r *Reconciler) ask(ctx context.Context, cluster string, current *facts, spec asked) (reconcile.Result, error) {
	if current != nil && apiequality.Semantic.DeepEqual(current.Spec, spec) {
		return reconcile.Result{}, nil
	}
	key := keyOf(cluster)
	if wait := r.Contention.Wait(key, claim(spec)); wait > 0 && current != nil {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	configuration, err := configurationOf(key, spec)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	err = r.Writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration), client.FieldOwner(FieldManager), client.ForceOwnership)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return reconcile.Result{}, nil // its add-ons go too, and then nothing is asked
	case err != nil:
		r.Metrics.FactsWrote(metrics.WriteError)
		return reconcile.Result{}, fmt.Errorf("ask cluster %s: %w", cluster, err)
	}
	r.Metrics.FactsWrote(metrics.WriteSuccess)
	contested := r.Contention.Wrote(key, claim(spec))
	log.FromContext(ctx).Info("Asked the agent of a cluster", "cluster", cluster,
		"apis", len(spec.APIs), "addOns", len(spec.AddOns), "contested", contested)
	return reconcile.Result{}, nil
}

// retract removes the object of a cluster of which nothing is asked.
func (r *Reconciler) retract(ctx context.Context, current *facts) error {
	if current == nil {
		return nil
	}
	key := client.ObjectKeyFromObject(current)
	err := r.Writer.Delete(ctx, &facts{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}},
		client.Preconditions{UID: &current.UID})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		r.Metrics.FactsWrote(metrics.WriteError)
		return fmt.Errorf("remove the questions to cluster %s: %w", key.Name, err)
	}
	r.Metrics.FactsWrote(metrics.WriteSuccess)
	r.Contention.Forget(key)
	log.FromContext(ctx).Info("Nothing is asked any more of a cluster", "cluster", key.Name)
	return nil
}

// configurationOf is the whole spec, empty lists spelled out: what somebody
// else put there goes, whoever owns it.
func configurationOf(key types.NamespacedName, spec asked) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
	if err != nil {
		return nil, fmt.Errorf("convert the questions to cluster %s: %w", key.Name, err)
	}
	for _, name := range []string{"apis", "addOns"} {
		if _, there := fields[name]; !there {
			fields[name] = []any{}
		}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": dependencyv1alpha1.GroupVersion.String(),
		"kind":       dependencyv1alpha1.Kind.Kind,
		"metadata":   map[string]any{"namespace": key.Namespace, "name": key.Name},
		"spec":       fields,
	}}, nil
}

// keyOf is where the object of a cluster is.
func keyOf(cluster string) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster, Name: cluster}
}

func names(keys []types.NamespacedName) []string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.Name
	}
	return names
}

// claim makes of questions what a tracker of conditions can compare.
func claim(spec asked) metav1.Condition {
	text, err := json.Marshal(spec)
	if err != nil {
		return metav1.Condition{}
	}
	return metav1.Condition{Message: string(text)}
}
