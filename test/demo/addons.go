package main

import (
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	cluster1 = "cluster1" // the cluster of the steps
	cluster2 = "cluster2" // cluster2 and cluster3 have every add-on
	cluster3 = "cluster3" // from the start, and do not change

	serviceAccount = "managed-serviceaccount"
	proxy          = "cluster-proxy"
	gateway        = "cluster-gateway"
	kueue          = "multicluster-kueue-manager"
	governance     = "governance-policy-framework"
	policies       = "config-policy-controller"
	templating     = "governance-standalone-hub-templating"
	scoring        = "dynamic-scoring-framework"
	workManager    = "work-manager"
	search         = "search-collector"
)

var clusters = []string{cluster1, cluster2, cluster3}

// addOn is a real add-on of the OCM ecosystem, with the dependencies that the demo registers.
type addOn struct {
	name         string
	dependencies []addonv1alpha1.AddonDependency
}

// realAddOns are the add-ons with their real dependencies. Policies and templating depend on each other, which is
// legal because one of the two edges is Optional.
var realAddOns = []addOn{
	{serviceAccount, nil},
	{proxy, nil},
	{gateway, []addonv1alpha1.AddonDependency{
		required(serviceAccount, "Cluster credentials cannot be issued."),
		optional(proxy, "Clusters behind a firewall are unreachable."),
	}},
	{kueue, []addonv1alpha1.AddonDependency{
		required(serviceAccount, "Jobs cannot be dispatched to this cluster."),
	}},
	{governance, nil},
	{policies, []addonv1alpha1.AddonDependency{
		required(governance, "Policies are not delivered to this cluster."),
		optional(templating, "Hub templates in policies are not resolved."),
	}},
	{templating, []addonv1alpha1.AddonDependency{
		required(policies, "There are no policies to resolve templates in."),
	}},
	{scoring, []addonv1alpha1.AddonDependency{
		optional(governance, "Scores leave out policy compliance."),
	}},
	{workManager, nil},
	{search, nil},
}

func required(name, message string) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyTypeRequired, Message: message}
}

func optional(name, message string) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyTypeOptional, Message: message}
}

// installedFirst returns the add-ons that a cluster has before the first step.
func installedFirst(cluster string) []string {
	var names []string
	for _, a := range realAddOns {
		later := []string{serviceAccount, proxy, gateway, kueue}
		if cluster != cluster1 || !slices.Contains(later, a.name) {
			names = append(names, a.name)
		}
	}
	return names
}
