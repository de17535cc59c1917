package installation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/names"
)

// create installs an add-on with the install strategy Manual. One that exists is never changed.
func (r *Reconciler) create(ctx context.Context, target installation.Target) (created bool, err error) {
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: target.Cluster, Name: target.AddOn,
		Labels: map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByInterlock},
	}}
	if r.Configs != nil {
		if installed.Spec.Configs, err = r.Configs(ctx, client.ObjectKeyFromObject(installed)); err != nil {
			return false, err
		}
	}
	err = r.Writer.Create(ctx, installed, client.FieldOwner(names.AddonManager))
	switch {
	case apierrors.IsAlreadyExists(err), apierrors.IsNotFound(err): // another component was first, or the cluster is gone
		return false, nil
	case err != nil:
		return false, fmt.Errorf("create ManagedClusterAddOn %s/%s: %w", target.Cluster, target.AddOn, err)
	}
	log.FromContext(ctx).Info("ManagedClusterAddOn created, because other add-ons need it", "cluster", target.Cluster, "addOn", target.AddOn)
	return true, nil
}
