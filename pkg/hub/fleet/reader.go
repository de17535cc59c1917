package fleet

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// Reader reads the fleet from the cache. What it returns is shared with the
// cache and must not be changed.
type Reader struct {
	client.Reader
}

// AddOns returns all registered add-ons.
func (r Reader) AddOns(ctx context.Context) ([]addonv1alpha1.ClusterManagementAddOn, error) {
	var list addonv1alpha1.ClusterManagementAddOnList
	if err := r.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list registered add-ons: %w", err)
	}
	return list.Items, nil
}

// Installed returns the keys of all clusters' add-ons of one name.
func (r Reader) Installed(ctx context.Context, addOn string) ([]types.NamespacedName, error) {
	return r.keys(ctx, client.MatchingFields{indexName: addOn})
}

// OnCluster returns the keys of all add-ons on one managed cluster.
func (r Reader) OnCluster(ctx context.Context, cluster string) ([]types.NamespacedName, error) {
	return r.keys(ctx, client.InNamespace(cluster))
}

func (r Reader) keys(ctx context.Context, which client.ListOption) ([]types.NamespacedName, error) {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := r.List(ctx, &list, which); err != nil {
		return nil, fmt.Errorf("list managed cluster add-ons: %w", err)
	}
	keys := make([]types.NamespacedName, 0, len(list.Items))
	for i := range list.Items {
		keys = append(keys, client.ObjectKeyFromObject(&list.Items[i]))
	}
	return keys, nil
}

// AddOn returns one add-on of one managed cluster, nil where there is none.
func (r Reader) AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	switch err := r.Get(ctx, key, addOn); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read managed cluster add-on %s: %w", key, err)
	}
	return addOn, nil
}

// Observe tells what evaluation needs to know of one add-on on one cluster.
func (r Reader) Observe(ctx context.Context, key types.NamespacedName) (evaluation.Observation, error) {
	addOn, err := r.AddOn(ctx, key)
	if err != nil || addOn == nil {
		return evaluation.Observation{}, err
	}
	version := versions.In(addOn.Annotations)
	return evaluation.Observation{
		Installed: true, Available: Available(addOn), Degraded: Degraded(addOn),
		Version: version.Current, FormerVersion: version.Former, Labels: addOn.Labels, Annotations: addOn.Annotations,
	}, nil
}

// Cluster returns a managed cluster, nil where there is none.
func (r Reader) Cluster(ctx context.Context, name string) (*clusterv1.ManagedCluster, error) {
	cluster := &clusterv1.ManagedCluster{}
	switch err := r.Get(ctx, types.NamespacedName{Name: name}, cluster); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read managed cluster %s: %w", name, err)
	}
	return cluster, nil
}

// Describe tells evaluation what is known of a managed cluster, nil for one
// that does not exist: its condition, and what else edges use of it.
func Describe(cluster *clusterv1.ManagedCluster, uses input.Set) evaluation.Cluster {
	if cluster == nil {
		return evaluation.Cluster{}
	}
	described := evaluation.Cluster{
		Name: cluster.Name, Labels: cluster.Labels, KubernetesVersion: cluster.Status.Version.Kubernetes,
	}
	if available := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable); available != nil {
		described.Available = available.Status
	}
	if uses.Any(input.Claims) {
		described.Claims = make(map[string]string, len(cluster.Status.ClusterClaims))
		for _, claim := range cluster.Status.ClusterClaims {
			described.Claims[claim.Name] = claim.Value
		}
	}
	return described
}

// ClusterStatus is the status of a ManagedCluster's Available, or empty.
func ClusterStatus(cluster *clusterv1.ManagedCluster) metav1.ConditionStatus {
	if condition := meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable); condition != nil {
		return condition.Status
	}
	return ""
}

// Available is the add-on's condition of that type, or nil.
func Available(addOn *addonv1alpha1.ManagedClusterAddOn) *metav1.Condition {
	return meta.FindStatusCondition(addOn.Status.Conditions, conditionAvailable)
}

// Degraded is the add-on's condition of that type, or nil.
func Degraded(addOn *addonv1alpha1.ManagedClusterAddOn) *metav1.Condition {
	return meta.FindStatusCondition(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionDegraded)
}
