package simulator

import (
	"context"
	"encoding/json"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	stockv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// writers is the number of parallel requests. On two cores, an API server is fastest with 8 to 32.
const writers = 16

// Fleet is a hub with managed clusters. The same add-ons are installed on each of them.
type Fleet struct {
	Hub      *Hub
	Clusters []string
	AddOns   []AddOn
	// first are the add-ons of the first cluster.
	first *stored
}

// NewFleet registers the add-ons at a hub without add-ons. It also registers Absent, which is installed nowhere. There
// are no clusters yet.
func NewFleet(ctx context.Context, hub *Hub, addOns []AddOn) (*Fleet, error) {
	fleet := &Fleet{Hub: hub, AddOns: addOns}
	for _, addOn := range append([]AddOn{{Name: Absent}}, addOns...) {
		if err := hub.Register(ctx, addOn); err != nil {
			return nil, err
		}
	}
	return fleet, nil
}

// Register creates the registration of an add-on.
func (h *Hub) Register(ctx context.Context, addOn AddOn) error {
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: addOn.Name}}
	registration.Spec.AddOnMeta.DisplayName = addOn.Name
	registration.Spec.InstallStrategy.Type = stockv1alpha1.AddonInstallStrategyManual
	registration.Spec.Dependencies = addOn.Dependencies
	if err := h.Client.Create(ctx, registration); err != nil {
		return fmt.Errorf("register add-on %s: %w", addOn.Name, err)
	}
	return nil
}

// Declare replaces the dependencies of a registered add-on.
func (h *Hub) Declare(ctx context.Context, addOn AddOn) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"dependencies": addOn.Dependencies}})
	if err != nil {
		return err
	}
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: addOn.Name}}
	if err := h.Client.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("declare what %s depends on: %w", addOn.Name, err)
	}
	return nil
}

// Grow lets clusters join until there are that many, each with all add-ons installed and available. It calls joined
// after each.
func (f *Fleet) Grow(ctx context.Context, size int, joined func()) error {
	if size > 0 && f.first == nil {
		if err := f.joinFirst(ctx); err != nil {
			return err
		}
		joined()
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := len(f.Clusters); i < size; i++ {
		cluster := fmt.Sprintf("cluster%d", i+1)
		f.Clusters = append(f.Clusters, cluster)
		group.Go(func() error {
			defer joined()
			if err := f.join(ctx, cluster); err != nil {
				return err
			}
			return f.first.copyTo(ctx, cluster)
		})
	}
	return group.Wait()
}

// joinFirst lets the first cluster join. Its add-ons are installed through the API server.
func (f *Fleet) joinFirst(ctx context.Context) error {
	const cluster = "cluster1"
	if err := f.join(ctx, cluster); err != nil {
		return err
	}
	for _, addOn := range f.AddOns {
		if err := f.Hub.Install(ctx, cluster, addOn.Name); err != nil {
			return err
		}
	}
	f.Clusters = append(f.Clusters, cluster)
	var err error
	f.first, err = f.Hub.readStored(ctx, cluster)
	return err
}

// join creates a cluster without add-ons.
func (f *Fleet) join(ctx context.Context, name string) error {
	if err := f.Hub.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		return fmt.Errorf("join cluster %s: %w", name, err)
	}
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"cloud": "Amazon", "vendor": "OpenShift", "region": "eu-central-1", "cluster.open-cluster-management.io/clusterset": "default",
	}}}
	cluster.Spec.HubAcceptsClient = true
	if err := f.Hub.Client.Create(ctx, cluster); err != nil {
		return fmt.Errorf("join cluster %s: %w", name, err)
	}
	return f.Hub.ReportCluster(ctx, name, metav1.ConditionTrue)
}

// Install installs an available add-on on a cluster, with all fields that OCM's own controllers write to it. That is
// about four kilobytes.
func (h *Hub) Install(ctx context.Context, cluster, name string) error {
	addOn := installedAddOn(cluster, name)
	status := addOn.Status
	if err := h.Client.Create(ctx, addOn); err != nil {
		return fmt.Errorf("install %s on %s: %w", name, cluster, err)
	}
	// The patch has no version, because addon-manager may have written meanwhile.
	created := addOn.DeepCopy()
	addOn.Status = status
	if err := h.Client.Status().Patch(ctx, addOn, client.MergeFrom(created), client.FieldOwner("registration")); err != nil {
		return fmt.Errorf("install %s on %s: %w", name, cluster, err)
	}
	return nil
}

// Uninstall removes an add-on from a cluster.
func (h *Hub) Uninstall(ctx context.Context, cluster, name string) error {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	if err := h.Client.Delete(ctx, addOn); err != nil {
		return fmt.Errorf("uninstall %s from %s: %w", name, cluster, err)
	}
	return nil
}

// clusterStopped is OCM's reason for a lost cluster and its add-ons.
const clusterStopped = "ManagedClusterLeaseUpdateStopped"

// ReportCluster sets a cluster's Available like OCM's registration.
func (h *Hub) ReportCluster(ctx context.Context, name string, status metav1.ConditionStatus) error {
	reason, message := "ManagedClusterAvailable", "Managed cluster is available"
	if status == metav1.ConditionUnknown {
		reason, message = clusterStopped, "Registration agent stopped updating its lease."
	}
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := h.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster); err != nil {
		return fmt.Errorf("report cluster %s: %w", name, err)
	}
	before := cluster.DeepCopy()
	for _, condition := range []metav1.Condition{
		{Type: clusterv1.ManagedClusterConditionHubAccepted, Status: metav1.ConditionTrue, Reason: "HubClusterAdminAccepted", Message: "Accepted by hub cluster admin"},
		{Type: clusterv1.ManagedClusterConditionJoined, Status: metav1.ConditionTrue, Reason: "ManagedClusterJoined", Message: "Managed cluster joined"},
		{Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: reason, Message: message},
	} {
		meta.SetStatusCondition(&cluster.Status.Conditions, condition)
	}
	if err := h.Client.Status().Patch(ctx, cluster, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("report cluster %s: %w", name, err)
	}
	return nil
}

// ForEach calls a function for each of the clusters, several at a time.
func ForEach(ctx context.Context, clusters []string, act func(ctx context.Context, cluster string) error) error {
	return forEachItem(ctx, clusters, act)
}

func forEachItem[T any](ctx context.Context, items []T, act func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for _, item := range items {
		group.Go(func() error { return act(ctx, item) })
	}
	return group.Wait()
}

// KeysOn returns the keys of one add-on on each of the clusters.
func KeysOn(clusters []string, addOn string) []types.NamespacedName {
	keys := make([]types.NamespacedName, len(clusters))
	for i, cluster := range clusters {
		keys[i] = types.NamespacedName{Namespace: cluster, Name: addOn}
	}
	return keys
}
