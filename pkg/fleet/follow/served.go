package follow

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// always are the lists without which there is no verdict.
func always() []Watched {
	return []Watched{
		{List: &addonv1alpha1.ClusterManagementAddOnList{}},
		{List: &addonv1alpha1.ManagedClusterAddOnList{}},
		{List: &clusterv1.ManagedClusterList{}},
	}
}

// optional are the lists that a hub need not serve.
func optional() []Watched {
	return []Watched{
		{List: &addonv1alpha1.AddOnDeploymentConfigList{}},
		{List: &addonv1alpha1.AddOnTemplateList{}},
		{List: &clusterv1beta1.PlacementList{}},
		{List: &clusterv1beta1.PlacementDecisionList{}},
		{List: &dependencyv1alpha1.AddOnDependencyPolicyList{}},
		{List: &dependencyv1alpha1.AddOnInstallationList{}},
		{List: &dependencyv1alpha1.ManagedClusterFactsList{}},
	}
}

// ServedLists returns all lists that verdicts on any managed cluster can depend on, as far as the hub serves them. It is for a process
// that runs for long: a list may be empty when it starts.
func ServedLists(ctx context.Context, hub client.Reader) ([]Watched, error) {
	lists := always()
	for _, list := range optional() {
		object, _ := list.List.DeepCopyObject().(client.ObjectList) // a copy has the type of its original
		switch err := hub.List(ctx, object, client.Limit(1)); {
		case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("list %T: %w", list.List, err)
		}
		lists = append(lists, list)
	}
	return lists, nil
}
