package installation

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/settings"
	"open-cluster-management.io/interlock/pkg/names"
)

// carryOut stores a decision, and then does what it says. Where that is refused, the object says why.
func (r *Reconciler) carryOut(ctx context.Context, declared *evaluation.Evaluator, of subject, decision installation.Decision) error {
	object, err := r.store(ctx, of, decision.Desired, conditionOf(decision, r.Clock.Now()))
	if err != nil || decision.Step == installation.Rest {
		return err
	}
	of.object = object
	if decision.Begins {
		r.fleet.begin(of.key.Namespace, r.Clock.Now())
	}
	if decision.Step == installation.Install {
		err = r.install(ctx, declared, of)
	} else {
		err = r.remove(ctx, declared, of)
	}
	if !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		return err
	}
	_, failed := r.store(ctx, of, decision.Desired, refused(decision, err, r.Clock.Now()))
	return errors.Join(err, failed)
}

// install creates the ManagedClusterAddOn, once the owner's consent is read again. One that exists is never changed. The gate of an ordered
// one is closed from the start, so it waits for its dependencies also while the webhook that closes gates is away.
func (r *Reconciler) install(ctx context.Context, declared *evaluation.Evaluator, of subject) error {
	current, err := declarations.Current(ctx, r.Live, declared, of.key.Name)
	if err != nil || !current || declared.Consent(of.key.Name) != catalog.ByAnnotation {
		return err // the catalog follows, and enqueues what it changes
	}
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: of.key.Namespace, Name: of.key.Name,
		Labels: map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock},
	}}
	if gate.Ordered(declared.Declaration(of.key.Name)) {
		addOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
	}
	if addOn.Spec.Configs, err = settings.Configs(ctx, r.Live, declared, of.key); err != nil {
		return err
	}
	switch err := r.Writer.Create(ctx, addOn, client.FieldOwner(names.AddonManager)); {
	case apierrors.IsAlreadyExists(err): // the cache is behind
		return nil
	case err != nil:
		return fmt.Errorf("create ManagedClusterAddOn %s: %w", of.key, err)
	}
	r.Metrics.Installed(of.key.Name)
	log.FromContext(ctx).Info("ManagedClusterAddOn created, because other add-ons need it", "cluster", of.key.Namespace, "addOn", of.key.Name)
	return nil
}

// remove deletes the ManagedClusterAddOn in the state that is read from the API server, if the decision is the same there.
func (r *Reconciler) remove(ctx context.Context, declared *evaluation.Evaluator, of subject) error {
	found, err := r.confirm(ctx, declared, of)
	if err != nil || found == nil {
		return err
	}
	err = r.Writer.Delete(ctx, found, client.Preconditions{UID: &found.UID, ResourceVersion: &found.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete ManagedClusterAddOn %s: %w", of.key, err)
	}
	r.Metrics.Removed(of.key.Name)
	log.FromContext(ctx).Info("ManagedClusterAddOn deleted, because no other add-on needs it any more",
		"cluster", of.key.Namespace, "addOn", of.key.Name)
	return nil
}

// confirm reads from the API server what is on a managed cluster, and what it declares: caches may be behind. It returns the add-on to
// remove; nil if it is used, or not known to be unused.
func (r *Reconciler) confirm(
	ctx context.Context, declared *evaluation.Evaluator, of subject,
) (found *addonv1alpha1.ManagedClusterAddOn, err error) {
	var all addonv1alpha1.ManagedClusterAddOnList
	if err := r.Live.List(ctx, &all, client.InNamespace(of.key.Namespace)); err != nil {
		return nil, fmt.Errorf("list add-ons on managed cluster %s: %w", of.key.Namespace, err)
	}
	for i := range all.Items {
		one := &all.Items[i]
		if one.Name == of.key.Name {
			found = one
			continue
		}
		current, err := declarations.Current(ctx, r.Live, declared, one.Name)
		if err != nil || !current {
			return nil, err
		}
		if !installation.MayUse(declared.Catalog, one.Name, of.key.Name) {
			continue
		}
		assessed := r.Assessments.Last(client.ObjectKeyFromObject(one))
		if assessed == nil || installation.UseBy(declared.Catalog, one.Name, of.key.Name, assessed.Findings) != installation.Unused {
			return nil, nil
		}
	}
	is := present(found)
	if is == nil || is.Deleted || is.UID != of.object.Status.UID || is.Generation > of.object.Status.Generation {
		return nil, nil
	}
	return found, nil
}
