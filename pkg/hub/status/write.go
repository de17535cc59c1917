package status

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/conditionwriter"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/names"
)

// change writes a decision, unless the declarations behind it have changed.
func (r *Reconciler) change(ctx context.Context, subject *assessedAddOn, decision outcome.Decision) (reconcile.Result, error) {
	confirmed, err := r.confirm(ctx, subject, decision)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !confirmed {
		return controllers.AfterConflict, nil
	}
	resourceVersion := subject.addOn.ResourceVersion
	if len(decision.Changed) > 0 {
		if resourceVersion, err = r.apply(ctx, subject, decision); err != nil {
			r.count(subject, decision, err)
			return resultOf(err, fmt.Sprintf("write %s of %s", list(decision.Changed), subject.key))
		}
		r.wrote(ctx, subject, decision)
	}
	if decision.Open {
		return r.open(ctx, subject, resourceVersion, decision.Because)
	}
	return reconcile.Result{}, nil
}

// apply writes the status of a decision, and returns the new resourceVersion of the add-on.
func (r *Reconciler) apply(ctx context.Context, subject *assessedAddOn, decision outcome.Decision) (string, error) {
	return r.Writer.ApplyStatus(ctx, names.AddonManager, subject.addOn, conditionwriter.Status{
		Conditions: decision.Conditions(subject.stored), HealthCheck: decision.HealthCheck,
	})
}

// list formats conditions, as in "Degraded=True/Reason".
func list(conditions []metav1.Condition) string {
	parts := make([]string, 0, len(conditions))
	for _, desired := range conditions {
		parts = append(parts, fmt.Sprintf("%s=%s/%s", desired.Type, desired.Status, desired.Reason))
	}
	return strings.Join(parts, ", ")
}

// resultOf returns the result of a reconcile whose write failed. After a conflict with another writer, the add-on is reconciled again.
func resultOf(err error, operation string) (reconcile.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		return controllers.AfterConflict, nil
	case apierrors.IsNotFound(err): // deleted since it was read; its own event cleans up
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, fmt.Errorf("%s: %w", operation, err)
}

// count counts a write of Degraded that failed.
func (r *Reconciler) count(subject *assessedAddOn, decision outcome.Decision, err error) {
	degraded := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionDegraded)
	switch {
	case degraded == nil, apierrors.IsNotFound(err):
	case apierrors.IsConflict(err):
		r.Metrics.Wrote(subject.key.Name, degraded.Reason, metrics.WriteConflict)
	default:
		r.Metrics.Wrote(subject.key.Name, degraded.Reason, metrics.WriteError)
	}
}

// wrote reports the conditions that were written: in the log, and Degraded in metrics and events.
func (r *Reconciler) wrote(ctx context.Context, subject *assessedAddOn, decision outcome.Decision) {
	for _, changed := range decision.Changed {
		log.FromContext(ctx).Info(changed.Type+" changed", "status", changed.Status, "reason", changed.Reason, "message", changed.Message)
		content := backoff.Condition(decision.Own(changed))
		repeats := r.Backoff.Repeats(subject.key, content) // to another writer, not to a dependency
		contested := r.Backoff.Wrote(subject.key, content)
		if decision.OpenedByAnother(subject.stored, changed) {
			r.emitOpened(subject.addOn, changed)
		}
		if changed.Type != addonv1alpha1.ManagedClusterAddOnConditionDegraded {
			continue
		}
		r.Metrics.Wrote(subject.key.Name, changed.Reason, metrics.WriteSuccess)
		if subject.reassessed && !repeats {
			r.Metrics.Reacted(condition.ReactionTo(
				subject.stored.Degraded, changed, subject.assessment.Findings, subject.state.AddOns, r.Clock.Now()))
		}
		if contested {
			r.Metrics.Contested(subject.key.Name)
			r.emitContested(subject.addOn)
		} else {
			r.emitTransition(subject.addOn, changed)
		}
	}
}

// open opens the gate, if the add-on still has the resourceVersion of the decision. A gate that is open cannot be closed again.
func (r *Reconciler) open(ctx context.Context, subject *assessedAddOn, resourceVersion string, because metav1.Condition) (reconcile.Result, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": resourceVersion, "annotations": map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateOpen},
	}})
	if err != nil {
		return reconcile.Result{}, err
	}
	stub := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: subject.key.Namespace, Name: subject.key.Name}}
	err = r.Client.Patch(ctx, stub, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(names.AddonManager))
	if err != nil {
		return resultOf(err, fmt.Sprintf("open the gate of %s", subject.key))
	}
	r.Backoff.Wrote(subject.key, backoff.Condition(because))
	log.FromContext(ctx).Info("Gate opened", "reason", because.Reason, "message", because.Message)
	r.emitOpened(subject.addOn, because)
	return reconcile.Result{}, nil
}

// writeForGuard writes the conditions as they are stored, so that the guard corrects Available.
func (r *Reconciler) writeForGuard(ctx context.Context, subject *assessedAddOn, decision outcome.Decision) (reconcile.Result, error) {
	decision.Changed = []metav1.Condition{*subject.stored.Degraded}
	if _, err := r.apply(ctx, subject, decision); err != nil {
		r.count(subject, decision, err)
		return resultOf(err, fmt.Sprintf("write %s of %s again, for the guard", list(decision.Changed), subject.key))
	}
	r.Metrics.Wrote(subject.key.Name, subject.stored.Degraded.Reason, metrics.WriteSuccess)
	log.FromContext(ctx).Info("Degraded written again, so that the guard corrects Available")
	return reconcile.Result{RequeueAfter: guardedAgain}, nil
}
