package fleet

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Objects reads the objects of a hub: from a cache, whose objects must not be
// changed, or with a live client.
type Objects struct {
	client.Reader
}

// AddOns lists all registered add-ons.
func (o Objects) AddOns(ctx context.Context) ([]addonv1alpha1.ClusterManagementAddOn, error) {
	var list addonv1alpha1.ClusterManagementAddOnList
	if err := o.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list registered add-ons: %w", err)
	}
	return list.Items, nil
}

// AddOn implements Reader.
func (o Objects) AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	switch err := o.Get(ctx, key, addOn); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read managed cluster add-on %s: %w", key, err)
	}
	return addOn, nil
}

// Cluster implements Reader.
func (o Objects) Cluster(ctx context.Context, name string) (*clusterv1.ManagedCluster, error) {
	cluster := &clusterv1.ManagedCluster{}
	switch err := o.Get(ctx, types.NamespacedName{Name: name}, cluster); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read managed cluster %s: %w", name, err)
	}
	return cluster, nil
}

// Config implements Reader. Where the AddOnDeploymentConfig does not exist,
// addon-framework gives the add-on no variables.
func (o Objects) Config(ctx context.Context, key types.NamespacedName) (variables map[string]string, read bool, err error) {
	config := &addonv1alpha1.AddOnDeploymentConfig{}
	switch err := o.Get(ctx, key, config); {
	case apierrors.IsNotFound(err):
		return nil, true, nil
	case err != nil:
		return nil, false, fmt.Errorf("read AddOnDeploymentConfig %s: %w", key, err)
	}
	variables = make(map[string]string, len(config.Spec.CustomizedVariables))
	for _, variable := range config.Spec.CustomizedVariables {
		variables[variable.Name] = variable.Value
	}
	return variables, true, nil
}
