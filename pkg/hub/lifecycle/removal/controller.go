// Package removal removes add-ons that are being deleted in order. An add-on is removed after its dependents on the managed cluster that
// are being deleted as well.
package removal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolsevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/teardown"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of events on add-ons that are being deleted.
const (
	// EventWaits means that the deletion of the add-on waits for its dependents.
	EventWaits = "DeletionWaits"
	// EventLate means that the add-on was removed before its dependents, because it had waited for too long.
	EventLate = "DeletionOutOfOrder"
)

// Reconciler removes Interlock's finalizer from one add-on that is being deleted.
type Reconciler struct {
	Clock        clock.PassiveClock
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	// Assessments has the assessments of dependents.
	Assessments *assess.Store
	// Live reads from the API server, because finalizers are not in the cache.
	Live     client.Reader
	Writer   client.Client
	Recorder toolsevents.EventRecorder

	// waits has, by add-on, the dependents that the last event named.
	waits sync.Map
}

// Reconcile removes Interlock's finalizer from an add-on that is being deleted, once its dependents are gone.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	key := request.NamespacedName
	evaluator, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := r.Live.Get(ctx, key, addOn); err != nil {
		r.waits.Delete(key)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	index := slices.Index(addOn.Finalizers, addonv1alpha1.WaitForDependentsFinalizer)
	if addOn.DeletionTimestamp.IsZero() || index < 0 {
		return reconcile.Result{}, nil
	}
	state, err := r.state(ctx, addOn)
	if err != nil {
		return reconcile.Result{}, err
	}
	now := r.Clock.Now()
	decision := teardown.Decide(evaluator.Catalog, addOn.Name, state, now)
	if decision.Release && decision.Stays { // the cache may be behind
		if state.Deleting, err = r.deletingNow(ctx, addOn.Namespace); err != nil {
			return reconcile.Result{}, err
		}
		decision = teardown.Decide(evaluator.Catalog, addOn.Name, state, now)
	}
	if !decision.Release {
		r.reportWaiting(addOn, decision.Dependents)
		return controllers.At(decision.NextCheck, now), nil
	}
	return reconcile.Result{}, r.release(ctx, addOn, index, decision)
}

// state reads the input of the decision.
func (r *Reconciler) state(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (teardown.State, error) {
	state := teardown.State{Deleted: addOn.DeletionTimestamp.Time, Deleting: map[string]bool{}, Findings: map[string][]evaluation.Finding{}}
	addOns, err := r.Fleet.AddOnsOn(ctx, addOn.Namespace)
	if err != nil {
		return state, err
	}
	for i := range addOns {
		name := addOns[i].Name
		state.Deleting[name] = !addOns[i].DeletionTimestamp.IsZero()
		if last := r.Assessments.Last(client.ObjectKeyFromObject(&addOns[i])); last != nil {
			state.Findings[name] = last.Findings
		}
	}
	cluster, err := r.Fleet.Cluster(ctx, addOn.Namespace)
	if err != nil {
		return state, err
	}
	if abandoned(cluster) {
		state.Abandoned = true
		return state, nil
	}
	state.Abandoned, err = r.terminating(ctx, addOn.Namespace)
	return state, err
}

// deletingNow returns, for each add-on on a managed cluster, whether it is being deleted according to the API server.
func (r *Reconciler) deletingNow(ctx context.Context, cluster string) (map[string]bool, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOnList"))
	if err := r.Live.List(ctx, list, client.InNamespace(cluster)); err != nil {
		return nil, fmt.Errorf("list add-ons on %s: %w", cluster, err)
	}
	deleting := map[string]bool{}
	for i := range list.Items {
		deleting[list.Items[i].Name] = !list.Items[i].DeletionTimestamp.IsZero()
	}
	return deleting, nil
}

// abandoned reports whether add-ons cannot be removed in order because the managed cluster is lost, being deleted, or nil.
func abandoned(cluster *clusterv1.ManagedCluster) bool {
	return cluster == nil || !cluster.DeletionTimestamp.IsZero() ||
		meta.IsStatusConditionPresentAndEqual(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable, metav1.ConditionUnknown)
}

// terminating reports whether the namespace of a managed cluster is being deleted.
func (r *Reconciler) terminating(ctx context.Context, name string) (bool, error) {
	read := fleet.Namespace()
	err := r.Live.Get(ctx, client.ObjectKey{Name: name}, read)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read namespace %s: %w", name, err)
	}
	return !read.DeletionTimestamp.IsZero(), nil
}

// release removes Interlock's finalizer at the index.
func (r *Reconciler) release(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, index int, decision teardown.Decision) error {
	path := fmt.Sprintf("/metadata/finalizers/%d", index)
	patch, err := json.Marshal([]map[string]string{
		{"op": "test", "path": path, "value": addonv1alpha1.WaitForDependentsFinalizer}, {"op": "remove", "path": path},
	})
	if err != nil {
		return err
	}
	key := client.ObjectKeyFromObject(addOn)
	stub := &addonv1alpha1.ManagedClusterAddOn{}
	stub.Namespace, stub.Name = key.Namespace, key.Name
	err = r.Writer.Patch(ctx, stub, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(names.AddonManager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer of ManagedClusterAddOn %s: %w", key, err)
	}
	r.waits.Delete(key)
	if decision.Late() {
		r.emit(addOn, corev1.EventTypeWarning, EventLate, fmt.Sprintf("The add-on is removed before its dependents, which were not gone after %.0f minutes: %s",
			teardown.MaxWait.Minutes(), text.Names(decision.Dependents, ", ")))
	}
	log.FromContext(ctx).Info("ManagedClusterAddOn may be removed", "waitedFor", decision.Dependents)
	return nil
}

// reportWaiting emits an event on the dependents that an add-on waits for, if they have changed.
func (r *Reconciler) reportWaiting(addOn *addonv1alpha1.ManagedClusterAddOn, dependents []string) {
	names := text.Names(dependents, ", ")
	if previous, ok := r.waits.Swap(client.ObjectKeyFromObject(addOn), names); len(dependents) == 0 || ok && previous == names {
		return
	}
	r.emit(addOn, corev1.EventTypeNormal, EventWaits, "The add-on is removed after its dependents, which are being removed as well: "+names)
}

func (r *Reconciler) emit(addOn *addonv1alpha1.ManagedClusterAddOn, kind, reason, note string) {
	r.Recorder.Eventf(events.About(events.ManagedClusterAddOn, addOn), nil, kind, reason, "Delete", "%s", events.Note(note))
}
