package simulator

import (
	"fmt"
	"math/rand/v2"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// AddOn is one registered add-on with what it depends on.
type AddOn struct {
	Name         string
	Dependencies []addonv1alpha1.AddonDependency
}

// Add-ons that scenarios speak of by name. All are real ones of OCM's.
const (
	// Root is what others depend on; it depends on nothing itself.
	Root = "managed-serviceaccount"
	// Leaf depends on nothing, and nothing depends on it.
	Leaf = "work-manager"
	// Absent is registered and installed nowhere.
	Absent = "observability-controller"
)

// MinAddOns is how many add-ons a fleet needs at least: so many have edges, and
// two more have none.
const MinAddOns = 10

var realAddOns = []AddOn{
	{Name: Root},
	{Name: "cluster-proxy"},
	{Name: "multicluster-kueue-manager", Dependencies: []addonv1alpha1.AddonDependency{
		required(Root, "Jobs cannot be dispatched to this cluster."),
		required("cluster-proxy", "Jobs cannot be dispatched to clusters behind a firewall."),
	}},
	{Name: "cluster-gateway", Dependencies: []addonv1alpha1.AddonDependency{
		required(Root, "Cluster credentials cannot be issued."),
		optional("cluster-proxy", "Clusters behind a firewall are unreachable."),
	}},
	{Name: "governance-policy-framework"},
	{Name: "config-policy-controller", Dependencies: []addonv1alpha1.AddonDependency{
		required("governance-policy-framework", "Policies are not propagated."),
		optional("governance-standalone-hub-templating", "Hub templates are not resolved."),
	}},
	{Name: "governance-standalone-hub-templating", Dependencies: []addonv1alpha1.AddonDependency{
		required("config-policy-controller", "Nothing evaluates the resolved templates."),
	}},
	{Name: "dynamic-scoring-framework", Dependencies: []addonv1alpha1.AddonDependency{
		optional("governance-policy-framework", "Scores are not enforced by policies."),
	}},
	{Name: Leaf},
	{Name: "search-collector"},
	{Name: "cert-policy-controller"},
	{Name: "submariner"},
	{Name: "hypershift-addon"},
}

// AddOns returns that many add-ons: OCM's own with their edges, then invented
// ones that depend on up to two invented ones before them.
func AddOns(count int, seed uint64) []AddOn {
	random := rand.New(rand.NewPCG(seed, 0))
	addOns := append([]AddOn{}, realAddOns[:min(count, len(realAddOns))]...)
	for i := len(realAddOns); i < count; i++ {
		addOn := AddOn{Name: fmt.Sprintf("addon-%03d", i)}
		known := addOns[len(realAddOns):]
		for _, pick := range random.Perm(len(known))[:min(random.IntN(3), len(known))] {
			edge := required(known[pick].Name, "It does not work without.")
			if random.IntN(3) == 0 {
				edge = optional(known[pick].Name, "It does less without.")
			}
			addOn.Dependencies = append(addOn.Dependencies, edge)
		}
		addOns = append(addOns, addOn)
	}
	return addOns
}

func required(name, message string) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyTypeRequired, Message: message}
}

func optional(name, message string) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyTypeOptional, Message: message}
}

// Edge is one dependency of one add-on, seen from the dependency.
type Edge struct {
	Dependent string
	Required  bool
}

// Dependents returns the edges on an add-on among the given ones, in their order.
func Dependents(addOns []AddOn, dependency string) []Edge {
	var edges []Edge
	for _, addOn := range addOns {
		for _, declared := range addOn.Dependencies {
			if declared.Name == dependency {
				edges = append(edges, Edge{
					Dependent: addOn.Name, Required: declared.Type == addonv1alpha1.DependencyTypeRequired,
				})
			}
		}
	}
	return edges
}
