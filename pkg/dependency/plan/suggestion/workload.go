package suggestion

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/text"
)

// Workload is the manifests that one object of the hub installs on managed clusters for an add-on.
type Workload struct {
	AddOn string
	// Source names the object, such as "AddOnTemplate gateway".
	Source    string
	Manifests []unstructured.Unstructured
}

// kind is a kind of an API, in any version.
type kind struct{ group, kind string }

// resource is the plural name of a kind in rules and paths, such as certificates.
type resource struct{ group, resource string }

// apis is the set of APIs that add-ons bring.
type apis struct {
	// addOns has the add-ons that bring a kind, ascending.
	addOns map[kind][]string
	kinds  map[resource]kind
}

// providedAPIs returns the APIs that add-ons install as CRDs, or declare that they provide.
func providedAPIs(declared *catalog.Catalog, workloads []Workload) apis {
	provided := apis{addOns: map[kind][]string{}, kinds: map[resource]kind{}}
	add := func(api kind, addOn string) {
		if i, ok := slices.BinarySearch(provided.addOns[api], addOn); !ok {
			provided.addOns[api] = slices.Insert(provided.addOns[api], i, addOn)
		}
	}
	for i := range workloads {
		for j := range workloads[i].Manifests {
			crd := workloads[i].Manifests[j].Object
			if !isCRD(&workloads[i].Manifests[j]) {
				continue
			}
			group, _, _ := unstructured.NestedString(crd, "spec", "group")
			name, _, _ := unstructured.NestedString(crd, "spec", "names", "kind")
			plural, _, _ := unstructured.NestedString(crd, "spec", "names", "plural")
			add(kind{group, name}, workloads[i].AddOn)
			provided.kinds[resource{group, plural}] = kind{group, name}
		}
	}
	for _, addOn := range declared.AddOns() {
		for _, api := range declared.Declaration(addOn).Provides {
			add(kind{api.Group, api.Kind}, addOn)
		}
	}
	return provided
}

func isCRD(manifest *unstructured.Unstructured) bool {
	return manifest.GetKind() == "CustomResourceDefinition" && manifest.GroupVersionKind().Group == "apiextensions.k8s.io"
}

// use is a use of an API that an add-on brings.
type use struct {
	kind kind
	// evidence describes the manifest that uses the API.
	evidence string
}

func (w *Workload) uses(provided apis) []use {
	var uses []use
	for i := range w.Manifests {
		manifest := &w.Manifests[i]
		gvk := manifest.GroupVersionKind()
		if gvk.Group == "rbac.authorization.k8s.io" {
			uses = append(uses, usesInRules(manifest, provided)...)
			continue
		}
		if api := (kind{gvk.Group, gvk.Kind}); provided.addOns[api] != nil {
			uses = append(uses, use{api, fmt.Sprintf("has %s %s (%s)", gvk.Kind, text.Name(manifest.GetName()), text.Name(gvk.Group))})
		}
	}
	return uses
}

// usesInRules returns the APIs that the rules of a role name. A rule for all groups names no API.
func usesInRules(role *unstructured.Unstructured, provided apis) []use {
	var uses []use
	rules, _, _ := unstructured.NestedSlice(role.Object, "rules") // a role may have no rules
	for _, item := range rules {
		rule, ok := item.(map[string]any)
		if !ok {
			continue
		}
		groups, _, _ := unstructured.NestedStringSlice(rule, "apiGroups")
		resources, _, _ := unstructured.NestedStringSlice(rule, "resources")
		for r, api := range provided.kinds {
			if !slices.Contains(groups, r.group) || !slices.ContainsFunc(resources, r.matches) {
				continue
			}
			uses = append(uses, use{api, fmt.Sprintf("%s %s has rules for %s.%s",
				role.GetKind(), text.Name(role.GetName()), text.Name(r.resource), text.Name(r.group))})
		}
	}
	return uses
}

// matches reports whether an entry in the resources of a rule is for the resource, or for one of its subresources.
func (r resource) matches(entry string) bool {
	name, _, _ := strings.Cut(entry, "/")
	return name == "*" || name == r.resource
}
