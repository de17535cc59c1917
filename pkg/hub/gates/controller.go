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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolsevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/acting"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/names"
)

// EventOpened is the reason of the event on an add-on whose gate was opened.
const EventOpened = "GateOpened"

// Reconciler decides on the gate of one add-on on one managed cluster.
type Reconciler struct {
	acting.AddOns
	// Client writes the annotation, and Live reads registrations and AddOnTemplates from the API server.
	Client   client.Client
	Live     client.Reader
	Recorder toolsevents.EventRecorder
	// Messages are the turns of add-ons whose conditions change only their message while the gate is closed.
	Messages *backoff.Turns

	contradicting contradicting
}

// SetupWithManager registers the controller. It begins with every add-on that waits.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return r.Setup(mgr, "gates", r, concerns)
}

// Evaluated enqueues an add-on that has been evaluated, if there is anything to decide, and those on its cluster that contradict
// installed add-ons: it may be the one that they contradict.
func (r *Reconciler) Evaluated(addOn types.NamespacedName) {
	r.EnqueueIf(concerns, addOn)
	r.Evaluate.Enqueue(r.contradicting.on(addOn.Namespace)...)
}

// concerns reports whether the gate of an add-on is closed, or the add-on still says that it waits.
func concerns(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return fleet.GateClosed(addOn) || gate.Waits(fleet.Installable(addOn))
}

// Reconcile first sets Installable and then opens the gate, each where it is due. So a process that stops between the
// two leaves nothing behind that the next one does not finish.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	addOn, declared, err := r.Read(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.contradicting.set(request.NamespacedName, addOn != nil && fleet.HeldForContradiction(addOn))
	if addOn == nil {
		return reconcile.Result{}, nil
	}
	now := r.Clock.Now()
	decision, again, err := r.decide(ctx, declared, addOn)
	if err != nil {
		return reconcile.Result{}, err
	}
	desired, changed := gate.Condition(fleet.Installable(addOn), decision, metav1.NewTime(now))
	opens := decision.Step == gate.Open && fleet.GateClosed(addOn)
	onlyMessage := changed && !opens && gate.OnlyMessage(fleet.GateClosed(addOn), fleet.Installable(addOn), desired)
	turn := r.Messages.MayWrite(request.NamespacedName, names.Gate, onlyMessage, r.Backoff.Last(request.NamespacedName))
	if !turn || !changed && !opens {
		return controllers.At(again, now), nil
	}
	if opens {
		if wait := r.Backoff.Wait(request.NamespacedName, desired); wait > 0 {
			return reconcile.Result{RequeueAfter: wait}, nil
		}
		if current, err := r.current(ctx, declared, addOn); err != nil || !current {
			return controllers.AfterConflict, err
		}
	}
	if !changed {
		return r.open(ctx, addOn, addOn.ResourceVersion, desired)
	}
	stored, result, err := r.Write(ctx, addOn, acting.Condition{Condition: desired, Owner: names.Gate})
	if opens && stored != "" {
		return r.open(ctx, addOn, stored, desired)
	}
	return result, err
}

// missingAgain is when an AddOnTemplate that does not exist is looked for again. Its creation brings the add-on back sooner where it
// declares something.
const missingAgain = 10 * time.Second

// decide decides on the gate, and returns when to do so again without a cause; zero: never.
func (r *Reconciler) decide(ctx context.Context, declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn) (gate.Decision, time.Time, error) {
	value, annotated := addOn.Annotations[addonv1alpha1.GateAnnotation]
	switch {
	case gate.Waits(fleet.Installable(addOn)) && !fleet.GateClosed(addOn):
		return gate.Ungated(value, annotated), time.Time{}, nil
	case !fleet.GateClosed(addOn):
		return gate.Decision{}, time.Time{}, nil
	case chosen(addOn) == "" && len(declared.Install(addOn.Name).Templates) > 0: // OCM chooses one soon, which may declare more
		return gate.Decision{}, time.Time{}, nil
	}
	return r.decideClosed(ctx, declared, addOn)
}

// decideClosed decides on a gate that is closed.
func (r *Reconciler) decideClosed(
	ctx context.Context, declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn,
) (decision gate.Decision, again time.Time, err error) {
	state, err := r.Loader.Load(ctx, declared, client.ObjectKeyFromObject(addOn), r.Clock.Now())
	if err != nil {
		return gate.Decision{}, time.Time{}, err
	}
	state, known := gate.Installing(declared.Catalog, state, addOn.Name)
	if !known {
		return gate.Decision{}, time.Time{}, nil
	}
	findings := declared.Evaluate(addOn.Name, state)
	order, again := gate.Decide(declared.Declaration(addOn.Name), findings), evaluation.HeldUntil(findings)
	switch missing, err := r.missing(ctx, addOn); {
	case err != nil:
		return gate.Decision{}, time.Time{}, err
	case missing != "":
		order, again = gate.Missing(missing, order), controllers.Sooner(again, r.Clock.Now().Add(missingAgain))
	}
	if !fleet.HeldForContradiction(addOn) {
		return order, again, nil
	}
	decision, until, err := r.decideContradiction(ctx, declared, addOn, state, order)
	return decision, controllers.Sooner(again, until), err
}

// current reports whether the catalog has what the add-on declares at this moment, by its registration and by the AddOnTemplate that Open
// Cluster Management is about to install: a gate that is opened too early cannot be closed again.
func (r *Reconciler) current(ctx context.Context, declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn) (bool, error) {
	registered, err := declarations.Current(ctx, r.Live, declared, addOn.Name)
	if err != nil || !registered {
		return false, err
	}
	return declarations.CurrentTemplate(ctx, r.Live, declared, chosen(addOn))
}

// chosen is the AddOnTemplate that Open Cluster Management is about to install; empty: none is chosen.
func chosen(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	templates := fleet.TemplatesOf(addOn)
	return cmp.Or(templates.RollingOut, templates.Running)
}

// missing returns the AddOnTemplate that is to be installed, if it does not exist. One that has a version does.
func (r *Reconciler) missing(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (string, error) {
	template := chosen(addOn)
	if template == "" {
		return "", nil
	}
	version, read, err := r.Loader.Reader.TemplateVersion(ctx, template)
	if err != nil || !read || version != "" {
		return "", err
	}
	exists, err := declarations.TemplateExists(ctx, r.Live, template)
	if err != nil || exists {
		return "", err
	}
	return template, nil
}

// open opens the gate, in the state that was decided on. It cannot be closed again.
func (r *Reconciler) open(
	ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, resourceVersion string, because metav1.Condition,
) (reconcile.Result, error) {
	key := client.ObjectKeyFromObject(addOn)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": resourceVersion, "annotations": map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateOpen},
	}})
	if err != nil {
		return reconcile.Result{}, err
	}
	stub := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := r.Client.Patch(ctx, stub, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(names.Gate)); err != nil {
		return acting.Unwritten(err, fmt.Sprintf("open the gate of %s", key))
	}
	r.Backoff.Wrote(key, because)
	r.Messages.Forget(key)
	r.Conditions.Written.Record(key, resourceVersion, stub.ResourceVersion)
	log.FromContext(ctx).Info("Gate opened", "reason", because.Reason, "message", because.Message)
	r.Recorder.Eventf(events.About(events.ManagedClusterAddOn, addOn), nil, corev1.EventTypeNormal, EventOpened, "OpenGate", "%s", events.Note(because.Message))
	return reconcile.Result{}, nil
}
