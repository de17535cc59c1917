// Package gates opens the gates of add-ons that wait for their dependencies, and reports in the condition Installable what
// they wait for.
package gates

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolsevents "k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/condition"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// EventOpened is the reason of the event on an add-on whose gate was opened.
const EventOpened = "GateOpened"

// Reconciler decides on the gate of one add-on on one managed cluster.
type Reconciler struct {
	Clock        clock.PassiveClock
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	Loader       fleet.Loader
	// Conditions writes Installable, and Client the annotation. Live reads registrations and AddOnTemplates from the API server.
	Conditions condition.Writer
	Client     client.Client
	Live       client.Reader
	Backoff    *backoff.Tracker
	Recorder   toolsevents.EventRecorder
	// Evaluate triggers this controller.
	Evaluate *trigger.Trigger
}

// Reconcile first sets Installable and then opens the gate, each where it is due. So a process that stops between the
// two leaves nothing behind that the next one does not finish.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	key := request.NamespacedName
	declared, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	addOn, err := r.Fleet.AddOn(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	if addOn == nil {
		r.Backoff.Forget(key)
		return reconcile.Result{}, nil
	}
	now := r.Clock.Now()
	decision, again, err := r.decide(ctx, declared, addOn)
	if err != nil {
		return reconcile.Result{}, err
	}
	desired, changed := gate.Condition(fleet.Installable(addOn), decision, metav1.NewTime(now))
	opens := decision.Step == gate.Open && fleet.GateClosed(addOn)
	if !changed && !opens {
		return controllers.At(again, now), nil
	}
	if wait := r.Backoff.Wait(key, desired); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	if opens {
		if current, err := r.current(ctx, declared, addOn); err != nil || !current {
			return controllers.AfterConflict, err
		}
	}
	if changed {
		return r.report(ctx, addOn, desired)
	}
	return r.open(ctx, addOn, desired)
}

// decide decides on the gate, and returns when to do so again without a cause; zero: never.
func (r *Reconciler) decide(ctx context.Context, declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn) (gate.Decision, time.Time, error) {
	never := time.Time{}
	waits, isOpen := gate.Waits(fleet.Installable(addOn)), addOn.Annotations[addonv1alpha1.GateAnnotation] == addonv1alpha1.GateOpen
	switch {
	case !addOn.DeletionTimestamp.IsZero():
		return gate.Decision{}, never, nil
	case waits && isOpen:
		return gate.OpenedByHand, never, nil
	case waits && !fleet.GateClosed(addOn):
		return gate.Begun, never, nil
	case !fleet.GateClosed(addOn):
		return gate.Decision{}, never, nil
	}
	state, err := r.Loader.Load(ctx, declared, client.ObjectKeyFromObject(addOn), r.Clock.Now())
	if err != nil {
		return gate.Decision{}, never, err
	}
	state, known := gate.Installing(declared.Catalog, state, addOn.Name)
	if !known {
		return gate.Decision{}, never, nil
	}
	findings := declared.Evaluate(addOn.Name, state)
	return gate.Decide(declared.Declaration(addOn.Name), findings), evaluation.HeldUntil(findings), nil
}

// current reports whether the catalog has what the add-on declares at this moment, by its registration and by the AddOnTemplate that Open
// Cluster Management is about to install: a gate that is opened too early cannot be closed again.
func (r *Reconciler) current(ctx context.Context, declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn) (bool, error) {
	registered, err := declarations.Current(ctx, r.Live, declared, addOn.Name)
	if err != nil || !registered {
		return false, err
	}
	templates := fleet.TemplatesOf(addOn)
	return declarations.CurrentTemplate(ctx, r.Live, declared, cmp.Or(templates.RollingOut, templates.Running))
}

// report writes Installable. The event of that write brings the add-on back.
func (r *Reconciler) report(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, desired metav1.Condition) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(addOn)
	switch err := r.Conditions.Apply(ctx, names.Gate, addOn, desired); {
	case apierrors.IsConflict(err):
		return controllers.AfterConflict, nil
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("write Installable=%s/%s of %s: %w", desired.Status, desired.Reason, key, err)
	}
	r.Backoff.Wrote(key, desired)
	log.FromContext(ctx).Info("Installable changed", "status", desired.Status, "reason", desired.Reason, "message", desired.Message)
	return reconcile.Result{}, nil
}

// open opens the gate, in the state that was decided on.
func (r *Reconciler) open(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, because metav1.Condition) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(addOn)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": addOn.ResourceVersion, "annotations": map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateOpen},
	}})
	if err != nil {
		return reconcile.Result{}, err
	}
	stub := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	switch err := r.Client.Patch(ctx, stub, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(names.Gate)); {
	case apierrors.IsConflict(err):
		return controllers.AfterConflict, nil
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("open the gate of %s: %w", key, err)
	}
	r.Backoff.Wrote(key, because)
	log.FromContext(ctx).Info("Gate opened", "reason", because.Reason, "message", because.Message)
	r.Recorder.Eventf(events.About(events.ManagedClusterAddOn, addOn), nil, corev1.EventTypeNormal, EventOpened, "OpenGate", "%s", events.Note(because.Message))
	return reconcile.Result{}, nil
}
