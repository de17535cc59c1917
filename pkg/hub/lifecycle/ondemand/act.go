package ondemand

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/configurer"
	"open-cluster-management.io/interlock/pkg/names"
)

// carryOut stores a decision and then takes its step. If the API server refuses the step, the object has the reason, and
// the bounds of the fleet do not count the step.
func (r *Reconciler) carryOut(
	ctx context.Context, evaluator *evaluation.Evaluator, s *subject, decision installation.Decision,
) error {
	err := r.store(ctx, s, decision.Desired, conditionBefore(s, decision, r.Clock.Now()))
	if err == nil && decision.Desired == nil && s.object != nil {
		err = r.restoreNeeded(ctx, evaluator, s)
	}
	if err != nil || decision.Step == installation.Rest {
		return err
	}
	if err = r.act(ctx, evaluator, s, &decision); isRefusal(err) {
		return errors.Join(err, r.store(ctx, s, decision.Desired, refusedCondition(decision, err, r.Clock.Now())))
	}
	return err
}

// act takes the step of a decision, and stores the created add-on.
func (r *Reconciler) act(
	ctx context.Context, evaluator *evaluation.Evaluator, s *subject, decision *installation.Decision,
) error {
	switch {
	case s.ByLabel:
		return r.label(ctx, s, decision)
	case decision.Step == installation.Remove:
		if err := r.remove(ctx, s); err != nil {
			return err
		}
		r.fleet.begin(s.key.Namespace, r.Clock.Now())
		return nil
	}
	uid, err := r.install(ctx, evaluator, s)
	if err != nil {
		return err
	}
	now := r.Clock.Now()
	r.fleet.begin(s.key.Namespace, now)
	created := decision.Desired.Created(uid, now)
	return r.storeAgain(ctx, s, &created)
}

// storeAgain stores an installation after its step. If another leader has deleted the object since it was stored, because
// it could not see this step yet, the object is created again: an add-on of Interlock without one would stay for ever.
func (r *Reconciler) storeAgain(ctx context.Context, s *subject, desired *installation.Installation) error {
	condition := conditionOf(installation.Decision{Desired: desired}, r.Clock.Now())
	err := r.store(ctx, s, desired, condition)
	if apierrors.IsNotFound(err) {
		s.object = nil
		return r.store(ctx, s, desired, condition)
	}
	return err
}

// restoreNeeded creates an AddOnInstallation again that was deleted, if a former leader has carried out its last decision
// just before. Together with storeAgain, one of both leaders sees the write of the other one.
func (r *Reconciler) restoreNeeded(ctx context.Context, evaluator *evaluation.Evaluator, s *subject) error {
	if err := errors.Join(r.confirmCluster(ctx, evaluator, s), r.confirmAddOn(ctx, s)); err != nil {
		return err
	}
	if installation.Decide(s.Inputs, r.Clock.Now()).Desired == nil {
		return nil
	}
	s.object = nil
	return r.storeAgain(ctx, s, s.Stored)
}

// isRefusal reports whether the API server refused a request: because of permissions, a quota, an admission rule or a
// missing namespace, or because another writer has set the label to another value.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsNotFound(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}

// install creates the ManagedClusterAddOn. It never changes an existing one. The gate of an ordered add-on is closed from
// the start. So it waits for its dependencies even if the webhook that closes gates is unavailable.
func (r *Reconciler) install(ctx context.Context, evaluator *evaluation.Evaluator, s *subject) (types.UID, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.key.Namespace,
		Name:      s.key.Name,
		Labels:    map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock},
	}}
	if gate.Ordered(evaluator.Declaration(s.key.Name)) {
		addOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
	}
	configs, err := configurer.Configs(ctx, r.Live, evaluator, s.key)
	if err != nil {
		return "", err
	}
	addOn.Spec.Configs = configs
	if err := r.Writer.Create(ctx, addOn, client.FieldOwner(names.AddonManager)); err != nil {
		return "", fmt.Errorf("create ManagedClusterAddOn %s: %w", s.key, err)
	}
	r.Metrics.Installed(s.key.Name)
	r.emitInstalls(s)
	log.FromContext(ctx).Info("ManagedClusterAddOn created, because other add-ons need it", "cluster", s.key.Namespace, "addOn", s.key.Name)
	return addOn.UID, nil
}

// remove deletes the ManagedClusterAddOn in the confirmed state.
func (r *Reconciler) remove(ctx context.Context, s *subject) error {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name}}
	err := r.Writer.Delete(ctx, addOn, client.Preconditions{UID: &s.AddOn.UID, ResourceVersion: &s.version})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("delete ManagedClusterAddOn %s: %w", s.key, err)
	}
	r.Metrics.Removed(s.key.Name)
	r.emitRemoves(s)
	log.FromContext(ctx).Info("ManagedClusterAddOn deleted, because no other add-on needs it any more",
		"cluster", s.key.Namespace, "addOn", s.key.Name)
	return nil
}
