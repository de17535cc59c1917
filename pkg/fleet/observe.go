package fleet

import (
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// observe sets the conditions and times of an add-on, and the inputs that edges use.
func observe(addOn *addonv1alpha1.ManagedClusterAddOn, inputs input.Set, observation *evaluation.Observation) {
	observation.Installed, observation.Available, observation.Degraded = true, Available(addOn), Degraded(addOn)
	observation.Created = addOn.CreationTimestamp.UTC()
	if addOn.DeletionTimestamp != nil {
		observation.Removed = addOn.DeletionTimestamp.UTC()
	}
	if inputs.Any(input.Versions | input.Version) {
		version := versions.In(addOn.Annotations)
		observation.Version, observation.FormerVersion = version.Current, version.Former
	}
	if inputs.Any(input.Hosting) && Hosted(addOn) {
		observation.HostingCluster = HostingCluster(addOn)
	}
	if inputs.Any(input.AddOn) {
		observation.Labels, observation.Annotations = addOn.Labels, addOn.Annotations
	}
}

// describe sets the condition of a managed cluster, which may be nil, and the inputs
// that edges use.
func describe(object *clusterv1.ManagedCluster, inputs input.Set, cluster *evaluation.Cluster) {
	if object == nil {
		return
	}
	cluster.Available = ClusterStatus(object)
	if inputs.Any(input.Labels) {
		cluster.Labels = object.Labels
	}
	if inputs.Any(input.Kubernetes) {
		cluster.KubernetesVersion = object.Status.Version.Kubernetes
	}
	if inputs.Any(input.Claims) {
		cluster.Claims = make(map[string]string, len(object.Status.ClusterClaims))
		for _, claim := range object.Status.ClusterClaims {
			cluster.Claims[claim.Name] = claim.Value
		}
	}
}
