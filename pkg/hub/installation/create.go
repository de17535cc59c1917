package installation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/hub/settings"
	"open-cluster-management.io/interlock/pkg/names"
)

// create installs an add-on with the install strategy Manual. One that exists is never changed. The gate of an ordered one is
// closed from the start, so it waits for its dependencies also while the webhook that closes gates is away.
func (r *Reconciler) create(ctx context.Context, declared *evaluation.Evaluator, target installation.Target) (created bool, err error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: target.Cluster, Name: target.AddOn,
		Labels: map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock},
	}}
	if gate.Ordered(declared.Declaration(target.AddOn)) {
		addOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
	}
	if addOn.Spec.Configs, err = settings.Configs(ctx, r.Live, r.Declarations.Current(), client.ObjectKeyFromObject(addOn)); err != nil {
		return false, err
	}
	err = r.Writer.Create(ctx, addOn, client.FieldOwner(names.AddonManager))
	switch {
	case apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err): // another component was first, or the cluster is gone
		return false, nil
	case err != nil:
		return false, fmt.Errorf("create ManagedClusterAddOn %s/%s: %w", target.Cluster, target.AddOn, err)
	}
	log.FromContext(ctx).Info("ManagedClusterAddOn created, because other add-ons need it", "cluster", target.Cluster, "addOn", target.AddOn)
	return true, nil
}
