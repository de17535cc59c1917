package simulator

import (
	"fmt"
	"math/rand/v2"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// AddOn is a registered add-on with its dependencies.
type AddOn struct {
	Name         string
	Dependencies []addonv1alpha1.AddonDependency
}

// Add-ons that scenarios name. All are real add-ons of OCM.
const (
	// Root has dependents, and no dependencies.
	Root = "managed-serviceaccount"
	// Leaf has no dependencies and no dependents.
	Leaf = "work-manager"
	// Absent is registered, and installed nowhere.
	Absent = "observability-controller"
)

// MinAddOns is the least number of add-ons in a fleet. With it, all real edges exist, and two add-ons have none.
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

// AddOns returns that many add-ons: OCM's own with their edges, then invented ones. These depend on up to two earlier
// invented add-ons.
func AddOns(count int, seed uint64) []AddOn {
	random := rand.New(rand.NewPCG(seed, 0))
	addOns := append([]AddOn{}, realAddOns[:min(count, len(realAddOns))]...)
	for i := len(realAddOns); i < count; i++ {
		addOn := AddOn{Name: fmt.Sprintf("addon-%03d", i)}
		earlier := addOns[len(realAddOns):]
		for _, pick := range random.Perm(len(earlier))[:min(random.IntN(3), len(earlier))] {
			edge := required(earlier[pick].Name, "It does not work without.")
			if random.IntN(3) == 0 {
				edge = optional(earlier[pick].Name, "It does less without.")
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

// Edge is a dependency of an add-on, from the view of the dependency.
type Edge struct {
	Dependent string
	Required  bool
}

// Dependents returns the edges on an add-on, in the order of the add-ons.
func Dependents(addOns []AddOn, dependency string) []Edge {
	var edges []Edge
	for _, addOn := range addOns {
		for _, edge := range addOn.Dependencies {
			if edge.Name == dependency {
				edges = append(edges, Edge{
					Dependent: addOn.Name, Required: edge.Type == addonv1alpha1.DependencyTypeRequired,
				})
			}
		}
	}
	return edges
}
