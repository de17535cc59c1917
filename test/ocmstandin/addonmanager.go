package ocmstandin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// AddOnManager stands in for OCM's addon-manager on the hub. An add-on whose
// strategy is Placements is installed on every managed cluster, which is what
// the placement "global" selects; every add-on is told its configurations, of
// the registration or its own; and what it installs is owned by the registration.
//
// Left out: what placements select otherwise, rollouts, add-on templates, and
// the owner of add-ons that somebody else made.
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
		failures = append(failures, m.tellDefaults(ctx, registration))
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

// tellDefaults tells a registration which configurations are its defaults.
func (m *AddOnManager) tellDefaults(ctx context.Context, registration *addonv1beta1.ClusterManagementAddOn) error {
	before := registration.DeepCopy()
	known := registration.Status.DefaultConfigReferences
	registration.Status.DefaultConfigReferences = nil
	for _, config := range registration.Spec.DefaultConfigs {
		if config.Name == "" || config.Name == addonv1beta1.ReservedNoDefaultConfigName {
			continue
		}
		reference := addonv1beta1.DefaultConfigReference{
			ConfigGroupResource: config.ConfigGroupResource, DesiredConfig: &addonv1beta1.ConfigSpecHash{ConfigReferent: config.ConfigReferent},
		}
		for _, old := range known {
			if old.ConfigGroupResource == config.ConfigGroupResource && old.DesiredConfig != nil && old.DesiredConfig.ConfigReferent == config.ConfigReferent {
				reference = old
			}
		}
		registration.Status.DefaultConfigReferences = append(registration.Status.DefaultConfigReferences, reference)
	}
	if equality.Semantic.DeepEqual(before.Status, registration.Status) {
		return nil
	}
	return client.IgnoreNotFound(m.hub.Status().Patch(ctx, registration, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// configure tells an add-on which configurations it has. What they contain,
// addon-framework tells by a hash: on the add-on for its own, on the
// registration for defaults.
func (m *AddOnManager) configure(
	ctx context.Context, registration *addonv1beta1.ClusterManagementAddOn, installed *addonv1beta1.ManagedClusterAddOn,
) error {
	before := installed.DeepCopy()
	wanted := map[addonv1beta1.ConfigGroupResource]addonv1beta1.ConfigSpecHash{}
	for _, reference := range registration.Status.DefaultConfigReferences {
		wanted[reference.ConfigGroupResource] = *reference.DesiredConfig
	}
	for _, config := range installed.Spec.Configs {
		wanted[config.ConfigGroupResource] = addonv1beta1.ConfigSpecHash{ConfigReferent: config.ConfigReferent}
	}
	known := installed.Status.ConfigReferences
	installed.Status.ConfigReferences = nil
	for _, resource := range slices.SortedFunc(maps.Keys(wanted), func(a, b addonv1beta1.ConfigGroupResource) int {
		return strings.Compare(a.Group+a.Resource, b.Group+b.Resource)
	}) {
		reference := addonv1beta1.ConfigReference{ConfigGroupResource: resource, DesiredConfig: ptr.To(wanted[resource])}
		for _, old := range known {
			if old.ConfigGroupResource == resource && old.DesiredConfig != nil && old.DesiredConfig.ConfigReferent == wanted[resource].ConfigReferent {
				reference = old
				// The hash of a default comes with it; that of its own the add-on's manager tells.
				reference.DesiredConfig.SpecHash = cmp.Or(wanted[resource].SpecHash, old.DesiredConfig.SpecHash)
			}
		}
		installed.Status.ConfigReferences = append(installed.Status.ConfigReferences, reference)
	}
	meta.SetStatusCondition(&installed.Status.Conditions, metav1.Condition{
		Type: addonv1beta1.ManagedClusterAddOnConditionConfigured, Status: metav1.ConditionTrue, Reason: "ConfigurationsConfigured", Message: "Configurations configured",
	})
	if equality.Semantic.DeepEqual(before.Status, installed.Status) {
		return nil
	}
	return client.IgnoreNotFound(m.hub.Status().Patch(ctx, installed, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}
