package installation

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
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/hub/settings"
	"open-cluster-management.io/interlock/pkg/names"
)

// carryOut stores a decision and then takes its step. If the API server refuses the step, the object has the reason, and
// the bounds of the fleet do not count the step.
func (r *Reconciler) carryOut(
	ctx context.Context, declared *evaluation.Evaluator, of *subject, decision installation.Decision,
) error {
	err := r.store(ctx, of, decision.Desired, before(of, decision, r.Clock.Now()))
	if err != nil || decision.Step == installation.Rest {
		return err
	}
	if err = r.act(ctx, declared, of, &decision); isRefusal(err) {
		return errors.Join(err, r.store(ctx, of, decision.Desired, refused(decision, err, r.Clock.Now())))
	}
	return err
}

// act takes the step of a decision, and stores the created add-on.
func (r *Reconciler) act(
	ctx context.Context, declared *evaluation.Evaluator, of *subject, decision *installation.Decision,
) error {
	switch {
	case of.ByLabel:
		return r.label(ctx, of, decision)
	case decision.Step == installation.Remove:
		if err := r.remove(ctx, of); err != nil {
			return err
		}
		r.fleet.begin(of.key.Namespace, r.Clock.Now())
		return nil
	}
	uid, err := r.install(ctx, declared, of)
	if err != nil {
		return err
	}
	now := r.Clock.Now()
	r.fleet.begin(of.key.Namespace, now)
	created := decision.Desired.Created(uid, now)
	return r.store(ctx, of, &created, conditionOf(installation.Decision{Desired: &created}, now))
}

// isRefusal reports whether the API server refused a request: because of permissions, a quota, an admission rule or a
// missing namespace, or because another writer has set the label to another value.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsNotFound(err) ||
		apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}

// install creates the ManagedClusterAddOn. It never changes an existing one. The gate of an ordered add-on is closed from
// the start. So it waits for its dependencies even if the webhook that closes gates is unavailable.
func (r *Reconciler) install(ctx context.Context, declared *evaluation.Evaluator, of *subject) (types.UID, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: of.key.Namespace,
		Name:      of.key.Name,
		Labels:    map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock},
	}}
	if gate.Ordered(declared.Declaration(of.key.Name)) {
		addOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
	}
	configs, err := settings.Configs(ctx, r.Live, declared, of.key)
	if err != nil {
		return "", err
	}
	addOn.Spec.Configs = configs
	if err := r.Writer.Create(ctx, addOn, client.FieldOwner(names.AddonManager)); err != nil {
		return "", fmt.Errorf("create ManagedClusterAddOn %s: %w", of.key, err)
	}
	r.Metrics.Installed(of.key.Name)
	r.emitInstalls(of)
	log.FromContext(ctx).Info("ManagedClusterAddOn created, because other add-ons need it", "cluster", of.key.Namespace, "addOn", of.key.Name)
	return addOn.UID, nil
}

// remove deletes the ManagedClusterAddOn in the confirmed state.
func (r *Reconciler) remove(ctx context.Context, of *subject) error {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: of.key.Namespace, Name: of.key.Name}}
	err := r.Writer.Delete(ctx, addOn, client.Preconditions{UID: &of.AddOn.UID, ResourceVersion: &of.version})
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("delete ManagedClusterAddOn %s: %w", of.key, err)
	}
	r.Metrics.Removed(of.key.Name)
	r.emitRemoves(of)
	log.FromContext(ctx).Info("ManagedClusterAddOn deleted, because no other add-on needs it any more",
		"cluster", of.key.Namespace, "addOn", of.key.Name)
	return nil
}
