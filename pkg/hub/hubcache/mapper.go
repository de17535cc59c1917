package hubcache

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Mapper returns a mapper that has the resources of the fleet built in, and discovers others. So
// addon-manager starts while the hub does not respond or lacks CRDs, and waits for them. It
// implements the manager option MapperProvider.
func Mapper(config *rest.Config, httpClient *http.Client) (meta.RESTMapper, error) {
	static := meta.NewDefaultRESTMapper(nil)
	static.Add(addonv1alpha1.GroupVersion.WithKind("ClusterManagementAddOn"), meta.RESTScopeRoot)
	static.Add(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOn"), meta.RESTScopeNamespace)
	static.Add(addonv1alpha1.GroupVersion.WithKind("AddOnDeploymentConfig"), meta.RESTScopeNamespace)
	static.Add(addonv1alpha1.GroupVersion.WithKind("AddOnTemplate"), meta.RESTScopeRoot)
	static.Add(fleet.CRD().GroupVersionKind(), meta.RESTScopeRoot)
	static.Add(fleet.Namespace().GroupVersionKind(), meta.RESTScopeRoot)
	static.Add(schema.GroupVersionKind{Group: clusterv1.GroupName, Version: "v1", Kind: "ManagedCluster"}, meta.RESTScopeRoot)
	static.Add(schema.GroupVersionKind{Group: clusterv1beta1.GroupName, Version: "v1beta1", Kind: "PlacementDecision"}, meta.RESTScopeNamespace)
	static.Add(schema.GroupVersionKind{Group: clusterv1beta1.GroupName, Version: "v1beta1", Kind: "Placement"}, meta.RESTScopeNamespace)
	static.AddSpecific(dependencyv1alpha1.Kind, dependencyv1alpha1.Resource, dependencyv1alpha1.Resource, meta.RESTScopeNamespace)
	static.Add(dependencyv1alpha1.InstallationKind, meta.RESTScopeNamespace)
	static.Add(dependencyv1alpha1.ReportKind, meta.RESTScopeNamespace)
	static.Add(dependencyv1alpha1.FleetReportKind, meta.RESTScopeRoot)
	static.AddSpecific(dependencyv1alpha1.PolicyKind, dependencyv1alpha1.PolicyResource, dependencyv1alpha1.PolicyResource, meta.RESTScopeRoot)
	discovering, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, fmt.Errorf("create mapper: %w", err)
	}
	return meta.FirstHitRESTMapper{MultiRESTMapper: meta.MultiRESTMapper{static, discovering}}, nil
}
