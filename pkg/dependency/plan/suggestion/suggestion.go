// Package suggestion finds undeclared dependencies: add-ons that use APIs that other add-ons
// bring to managed clusters.
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
	// MayNeed has the add-ons that bring the used API, ascending. Any of them suffices.
	MayNeed []string `json:"mayNeed"`
	// Because has the uses of the API, each with the object that has the use, ascending.
	Because []string `json:"because"`
	// Dependency is the declaration to add. Its message is left to the author.
	Dependency addonv1alpha1.AddonDependency `json:"dependency"`
}

// Find returns the undeclared dependencies of add-ons, ascending by add-on. APIs of built-in groups are on every managed cluster,
// like the APIs of OCM.
func Find(declared *catalog.Catalog, workloads []Workload, builtIn func(group string) bool) []Suggestion {
	provided := providedAPIs(declared, workloads)
	suggestions := map[string]*Suggestion{}
	for i := range workloads {
		for _, used := range workloads[i].uses(provided) {
			providers := provided.addOns[used.kind]
			addOn := workloads[i].AddOn
			onEveryCluster := builtIn(used.kind.group) || isOCM(used.kind.group)
			if onEveryCluster || slices.Contains(providers, addOn) || declares(declared, addOn, used.kind, providers) {
				continue
			}
			dependency := addonv1alpha1.AddonDependency{Name: providers[0], Type: typeOf(declared, addOn, providers[0])}
			if len(providers) > 1 { // any of them satisfies an edge to the API
				dependency.Name = strings.ToLower(used.kind.kind)
				dependency.API = &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Group: used.kind.group, Kind: used.kind.kind}}
			}
			key := addOn + " " + dependency.Name
			if suggestions[key] == nil {
				suggestions[key] = &Suggestion{AddOn: addOn, MayNeed: providers, Dependency: dependency}
			}
			suggestions[key].Because = append(suggestions[key].Because, fmt.Sprintf("%s: %s", workloads[i].Source, used.evidence))
		}
	}
	return sorted(suggestions)
}

func sorted(byKey map[string]*Suggestion) []Suggestion {
	suggestions := make([]Suggestion, 0, len(byKey))
	for _, suggestion := range byKey {
		slices.Sort(suggestion.Because)
		suggestion.Because = slices.Compact(suggestion.Because)
		suggestions = append(suggestions, *suggestion)
	}
	slices.SortFunc(suggestions, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(a.Dependency.Name, b.Dependency.Name))
	})
	return suggestions
}

// declares reports whether the add-on has an edge to one of the providers, under any name, or to
// the API.
func declares(declared *catalog.Catalog, addOn string, used kind, providers []string) bool {
	edges := declared.Declaration(addOn).Edges
	for i := range edges {
		for end := range edges[i].Ends() {
			api := end.Dependency.API
			onManagedCluster := declaration.ServedBy(&end.Dependency) == addonv1alpha1.APIServerManagedCluster
			if onManagedCluster && api.Group == used.group && api.Kind == used.kind || slices.Contains(providers, end.AddOn) {
				return true
			}
		}
	}
	return false
}

// typeOf returns Required, or Optional if a Required dependency would close a cycle.
func typeOf(declared *catalog.Catalog, addOn, dependency string) addonv1alpha1.DependencyType {
	reached := []string{dependency}
	for next := 0; next < len(reached); next++ {
		edges := declared.Declaration(reached[next]).Edges
		for i := range edges {
			switch required := edges[i].AddOn; {
			case !edges[i].Waits():
			case required == addOn:
				return addonv1alpha1.DependencyTypeOptional
			case !slices.Contains(reached, required):
				reached = append(reached, required)
			}
		}
	}
	return addonv1alpha1.DependencyTypeRequired
}

// ocmGroups has the groups of APIs that OCM's registration and work agents bring. Add-ons bring the other
// groups of open-cluster-management.io.
var ocmGroups = []string{"addon", "cluster", "operator", "work", "dependency.addon"}

func isOCM(group string) bool {
	prefix, ok := strings.CutSuffix(group, ".open-cluster-management.io")
	return ok && slices.Contains(ocmGroups, prefix)
}
