package status

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/status"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/names"
)

// change writes a decision, unless what it rests on is no longer declared.
func (r *Reconciler) change(ctx context.Context, is *assessed, decision status.Decision) (reconcile.Result, error) {
	confirmed, err := r.confirm(ctx, is, decision)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !confirmed {
		return controllers.AfterConflict, nil
	}
	stored := is.addOn.ResourceVersion
	if len(decision.Changed) > 0 {
		if stored, err = r.Writer.ApplyAll(
			ctx,
			names.AddonManager,
			is.addOn,
			decision.Conditions(is.stored),
			decision.HealthCheck,
		); err != nil {
			r.count(is, decision, err)
			return unwritten(err, fmt.Sprintf("write %s of %s", list(decision.Changed), is.key))
		}
		r.wrote(ctx, is, decision)
	}
	if decision.Open {
		return r.open(ctx, is, stored, decision.Because)
	}
	return reconcile.Result{}, nil
}

// list names conditions, as in "Degraded=True/Reason".
func list(conditions []metav1.Condition) string {
	all := make([]string, 0, len(conditions))
	for _, one := range conditions {
		all = append(all, fmt.Sprintf("%s=%s/%s", one.Type, one.Status, one.Reason))
	}
	return strings.Join(all, ", ")
}

// unwritten is what follows from a write of an add-on that failed. If another writer was faster, it is decided again.
func unwritten(err error, what string) (reconcile.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		return controllers.AfterConflict, nil
	case apierrors.IsNotFound(err): // deleted since it was read; its own event cleans up
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, fmt.Errorf("%s: %w", what, err)
}

// count counts a write of Degraded that failed.
func (r *Reconciler) count(is *assessed, decision status.Decision, err error) {
	degraded := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionDegraded)
	switch {
	case degraded == nil, apierrors.IsNotFound(err):
	case apierrors.IsConflict(err):
		r.Metrics.Wrote(is.key.Name, degraded.Reason, metrics.WriteConflict)
	default:
		r.Metrics.Wrote(is.key.Name, degraded.Reason, metrics.WriteError)
	}
}

// wrote reports the conditions that were written: in the log, and Degraded in metrics and events.
func (r *Reconciler) wrote(ctx context.Context, is *assessed, decision status.Decision) {
	for _, one := range decision.Changed {
		log.FromContext(ctx).Info(one.Type+" changed", "status", one.Status, "reason", one.Reason, "message", one.Message)
		content := condition.WithoutForeign(one)
		repeats := r.Backoff.Repeats(is.key, content) // to another writer, not to a dependency
		contested := r.Backoff.Wrote(is.key, content)
		if one.Type != addonv1alpha1.ManagedClusterAddOnConditionDegraded {
			continue
		}
		r.Metrics.Wrote(is.key.Name, one.Reason, metrics.WriteSuccess)
		if is.known && !repeats {
			r.Metrics.Reacted(condition.ReactionTo(is.stored.Degraded, one, is.found.Findings, is.state.AddOns, r.Clock.Now()))
		}
		if contested {
			r.Metrics.Contested(is.key.Name)
			r.emitContested(is.addOn)
		} else {
			r.emitTransition(is.addOn, one)
		}
	}
}

// open opens the gate, in the state that was decided on. It cannot be closed again.
func (r *Reconciler) open(ctx context.Context, is *assessed, resourceVersion string, because metav1.Condition) (reconcile.Result, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": resourceVersion, "annotations": map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateOpen},
	}})
	if err != nil {
		return reconcile.Result{}, err
	}
	stub := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: is.key.Namespace, Name: is.key.Name}}
	err = r.Client.Patch(ctx, stub, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(names.AddonManager))
	if err != nil {
		return unwritten(err, fmt.Sprintf("open the gate of %s", is.key))
	}
	r.Backoff.Wrote(is.key, because)
	r.Messages.Forget(is.key)
	r.Writer.Written.Record(is.key, resourceVersion, stub.ResourceVersion)
	log.FromContext(ctx).Info("Gate opened", "reason", because.Reason, "message", because.Message)
	r.Recorder.Eventf(events.About(events.ManagedClusterAddOn, is.addOn), nil,
		corev1.EventTypeNormal, EventOpened, actionOpen, "%s", events.Note(because.Message))
	return reconcile.Result{}, nil
}

// writeForGuard writes the conditions as they are stored, so that the guard corrects Available.
func (r *Reconciler) writeForGuard(ctx context.Context, is *assessed, decision status.Decision) (reconcile.Result, error) {
	decision.Changed = []metav1.Condition{*is.stored.Degraded}
	_, err := r.Writer.ApplyAll(ctx, names.AddonManager, is.addOn, decision.Conditions(is.stored), decision.HealthCheck)
	if err != nil {
		r.count(is, decision, err)
		return unwritten(err, fmt.Sprintf("write %s of %s again, for the guard", list(decision.Changed), is.key))
	}
	r.Metrics.Wrote(is.key.Name, is.stored.Degraded.Reason, metrics.WriteSuccess)
	log.FromContext(ctx).Info("Degraded written again, so that the guard corrects Available")
	return reconcile.Result{RequeueAfter: guardedAgain}, nil
}
