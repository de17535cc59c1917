package fleet

import (
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// observe sets what is known of an add-on: its conditions, and what else is used.
func observe(addOn *addonv1alpha1.ManagedClusterAddOn, inputs input.Set, into *evaluation.Observation) {
	into.Installed, into.Available, into.Degraded = true, Available(addOn), Degraded(addOn)
	into.Created = addOn.CreationTimestamp.UTC()
	if addOn.DeletionTimestamp != nil {
		into.Removed = addOn.DeletionTimestamp.UTC()
	}
	if inputs.Any(input.Versions | input.Version) {
		version := versions.In(addOn.Annotations)
		into.Version, into.FormerVersion = version.Current, version.Former
	}
	if inputs.Any(input.Hosting) && Hosted(addOn) {
		into.HostingCluster = HostingCluster(addOn)
	}
	if inputs.Any(input.AddOn) {
		into.Labels, into.Annotations = addOn.Labels, addOn.Annotations
	}
}

// describe sets what is known of a managed cluster, which may be nil: its
// condition, and what else is used.
func describe(cluster *clusterv1.ManagedCluster, inputs input.Set, into *evaluation.Cluster) {
	if cluster == nil {
		return
	}
	into.Available = ClusterStatus(cluster)
	if inputs.Any(input.Labels) {
		into.Labels = cluster.Labels
	}
	if inputs.Any(input.Kubernetes) {
		into.KubernetesVersion = cluster.Status.Version.Kubernetes
	}
	if inputs.Any(input.Claims) {
		into.Claims = make(map[string]string, len(cluster.Status.ClusterClaims))
		for _, claim := range cluster.Status.ClusterClaims {
			into.Claims[claim.Name] = claim.Value
		}
	}
}
