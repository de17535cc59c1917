// Package suggestion finds undeclared dependencies: add-ons that use APIs which other
// add-ons bring to managed clusters.
package suggestion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Suggestion is a dependency that an add-on may need.
type Suggestion struct {
	AddOn string `json:"addOn"`
	// MayNeed are the add-ons that bring what it uses, ascending; one of several suffices.
	MayNeed []string `json:"mayNeed"`
	// Because is the evidence, each with the object that it is from, ascending.
	Because []string `json:"because"`
	// Dependency is what the add-on could declare. Its message is the author's to write.
	Dependency addonv1alpha1.AddonDependency `json:"dependency"`
}

// Find returns what add-ons use of others and do not declare, ascending by add-on. APIs of
// groups that builtIn reports are on every managed cluster, and so are OCM's own.
func Find(declared *catalog.Catalog, workloads []Workload, builtIn func(group string) bool) []Suggestion {
	brought := bring(declared, workloads)
	found := map[string]*Suggestion{}
	for i := range workloads {
		for _, used := range workloads[i].uses(brought) {
			providers := brought.addOns[used.kind]
			addOn := workloads[i].AddOn
			if builtIn(used.kind.group) || isOCM(used.kind.group) || slices.Contains(providers, addOn) || declares(declared, addOn, used.kind, providers) {
				continue
			}
			dependency := addonv1alpha1.AddonDependency{Name: providers[0], Type: typeOf(declared, addOn, providers[0])}
			if len(providers) > 1 { // any of them satisfies an edge to the API
				dependency.Name = strings.ToLower(used.kind.kind)
				dependency.API = &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Group: used.kind.group, Kind: used.kind.kind}}
			}
			key := addOn + " " + dependency.Name
			if found[key] == nil {
				found[key] = &Suggestion{AddOn: addOn, MayNeed: providers, Dependency: dependency}
			}
			found[key].Because = append(found[key].Because, fmt.Sprintf("%s: %s", workloads[i].Source, used.how))
		}
	}
	return sorted(found)
}

func sorted(found map[string]*Suggestion) []Suggestion {
	all := make([]Suggestion, 0, len(found))
	for _, one := range found {
		slices.Sort(one.Because)
		one.Because = slices.Compact(one.Because)
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(a.Dependency.Name, b.Dependency.Name))
	})
	return all
}

// declares reports whether the add-on has an edge on one of the providers, by whatever name,
// or on the API.
func declares(declared *catalog.Catalog, addOn string, api kind, providers []string) bool {
	edges := declared.Declaration(addOn).Edges
	for i := range edges {
		for end := range edges[i].Ends() {
			on := end.Dependency.API
			isHere := declaration.ServedBy(&end.Dependency) == addonv1alpha1.APIServerManagedCluster
			if isHere && on.Group == api.group && on.Kind == api.kind || slices.Contains(providers, end.AddOn) {
				return true
			}
		}
	}
	return false
}

// typeOf is Optional where a Required dependency would close a cycle.
func typeOf(declared *catalog.Catalog, addOn, dependency string) addonv1alpha1.DependencyType {
	reached := []string{dependency}
	for next := 0; next < len(reached); next++ {
		edges := declared.Declaration(reached[next]).Edges
		for i := range edges {
			switch on := edges[i].AddOn; {
			case !edges[i].Waits():
			case on == addOn:
				return addonv1alpha1.DependencyTypeOptional
			case !slices.Contains(reached, on):
				reached = append(reached, on)
			}
		}
	}
	return addonv1alpha1.DependencyTypeRequired
}

// ocmGroups are those that OCM's registration and work agents bring. Add-ons bring the other
// groups of open-cluster-management.io.
var ocmGroups = []string{"addon", "cluster", "operator", "work", "dependency.addon"}

func isOCM(group string) bool {
	of, ok := strings.CutSuffix(group, ".open-cluster-management.io")
	return ok && slices.Contains(ocmGroups, of)
}
