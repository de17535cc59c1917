package ocmstandin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// AddOnManager stands in for OCM's addon-manager on the hub. An add-on whose
// strategy is Placements is installed on every managed cluster, which is what
// the placement "global" selects; every add-on is told its configurations, of
// the registration or its own; and an add-on is owned by its registration.
//
// Left out: what placements select otherwise, rollouts, add-on templates.
type AddOnManager struct {
	Hub *rest.Config
	// Report is told of what failed and will be tried again.
	Report func(error)

	hub client.Client
}

// Run does its work until the context ends.
func (m *AddOnManager) Run(ctx context.Context) error {
	scheme, err := hubScheme()
	if err != nil {
		return err
	}
	if m.hub, err = client.New(unthrottled(m.Hub), client.Options{Scheme: scheme}); err != nil {
		return err
	}
	repeat(ctx, func(err error) {
		if m.Report != nil {
			m.Report(fmt.Errorf("OCM's addon-manager: %w", err))
		}
	}, m.look)
	return nil
}

func (m *AddOnManager) look(ctx context.Context) error {
	var registrations addonv1beta1.ClusterManagementAddOnList
	var installations addonv1beta1.ManagedClusterAddOnList
	var clusters clusterv1.ManagedClusterList
	for _, list := range []client.ObjectList{&registrations, &installations, &clusters} {
		if err := m.hub.List(ctx, list); err != nil {
			return fmt.Errorf("list %T: %w", list, err)
		}
	}
	var failures []error
	for i := range registrations.Items {
		registration := &registrations.Items[i]
		if registration.DeletionTimestamp.IsZero() && registration.Spec.InstallStrategy.Type == addonv1beta1.AddonInstallStrategyPlacements {
			failures = append(failures, m.install(ctx, registration, clusters.Items))
		}
		for j := range installations.Items {
			if installations.Items[j].Name == registration.Name {
				failures = append(failures, m.configure(ctx, registration, &installations.Items[j]))
			}
		}
	}
	return errors.Join(failures...)
}

func (m *AddOnManager) install(ctx context.Context, registration *addonv1beta1.ClusterManagementAddOn, clusters []clusterv1.ManagedCluster) error {
	var failures []error
	for i := range clusters {
		if !clusters[i].DeletionTimestamp.IsZero() {
			continue
		}
		installed := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: clusters[i].Name, Name: registration.Name}}
		if err := m.hub.Get(ctx, client.ObjectKeyFromObject(installed), installed); apierrors.IsNotFound(err) {
			if err := controllerutil.SetOwnerReference(registration, installed, m.hub.Scheme()); err != nil {
				return err
			}
			failures = append(failures, m.hub.Create(ctx, installed))
		}
	}
	return errors.Join(failures...)
}

// configure tells an add-on which configurations it has. Their content is for
// the add-on's own manager to tell: addon-framework adds its hash.
func (m *AddOnManager) configure(
	ctx context.Context, registration *addonv1beta1.ClusterManagementAddOn, installed *addonv1beta1.ManagedClusterAddOn,
) error {
	before := installed.DeepCopy()
	wanted := map[addonv1beta1.ConfigGroupResource]addonv1beta1.ConfigReferent{}
	for _, config := range slices.Concat(registration.Spec.DefaultConfigs, installed.Spec.Configs) {
		if config.Name != "" && config.Name != addonv1beta1.ReservedNoDefaultConfigName {
			wanted[config.ConfigGroupResource] = config.ConfigReferent
		}
	}
	installed.Status.ConfigReferences = slices.DeleteFunc(installed.Status.ConfigReferences, func(reference addonv1beta1.ConfigReference) bool {
		referent, ok := wanted[reference.ConfigGroupResource]
		keep := ok && reference.DesiredConfig != nil && reference.DesiredConfig.ConfigReferent == referent
		if keep {
			delete(wanted, reference.ConfigGroupResource)
		}
		return !keep
	})
	for resource := range maps.Keys(wanted) {
		installed.Status.ConfigReferences = append(installed.Status.ConfigReferences, addonv1beta1.ConfigReference{
			ConfigGroupResource: resource, DesiredConfig: &addonv1beta1.ConfigSpecHash{ConfigReferent: wanted[resource]},
		})
	}
	meta.SetStatusCondition(&installed.Status.Conditions, metav1.Condition{
		Type: addonv1beta1.ManagedClusterAddOnConditionConfigured, Status: metav1.ConditionTrue, Reason: "ConfigurationsConfigured", Message: "Configurations configured",
	})
	if equality.Semantic.DeepEqual(before.Status, installed.Status) {
		return nil
	}
	return client.IgnoreNotFound(m.hub.Status().Patch(ctx, installed, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}
