package suggestion

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/text"
)

// Workload is what one object of the hub installs on managed clusters for an add-on.
type Workload struct {
	AddOn string
	// Source names the object, such as "AddOnTemplate gateway".
	Source    string
	Manifests []unstructured.Unstructured
}

// kind is a kind of an API, in any version.
type kind struct{ group, kind string }

// resource is the name of a kind in rules and paths, such as certificates.
type resource struct{ group, resource string }

// brought are the APIs that add-ons bring.
type brought struct {
	// addOns that bring a kind, ascending.
	addOns map[kind][]string
	kinds  map[resource]kind
}

// bring finds the APIs that add-ons install as CRDs, or declare that they provide.
func bring(declared *catalog.Catalog, workloads []Workload) brought {
	all := brought{addOns: map[kind][]string{}, kinds: map[resource]kind{}}
	add := func(api kind, addOn string) {
		if at, known := slices.BinarySearch(all.addOns[api], addOn); !known {
			all.addOns[api] = slices.Insert(all.addOns[api], at, addOn)
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
			all.kinds[resource{group, plural}] = kind{group, name}
		}
	}
	for _, addOn := range declared.AddOns() {
		for _, api := range declared.Declaration(addOn).Provides {
			add(kind{api.Group, api.Kind}, addOn)
		}
	}
	return all
}

func isCRD(manifest *unstructured.Unstructured) bool {
	return manifest.GetKind() == "CustomResourceDefinition" && manifest.GroupVersionKind().Group == "apiextensions.k8s.io"
}

// use is a use of an API that an add-on brings, and how it was found.
type use struct {
	kind kind
	how  string
}

func (w *Workload) uses(of brought) (all []use) {
	for i := range w.Manifests {
		manifest := &w.Manifests[i]
		gvk := manifest.GroupVersionKind()
		if gvk.Group == "rbac.authorization.k8s.io" {
			all = append(all, permitted(manifest, of)...)
			continue
		}
		if api := (kind{gvk.Group, gvk.Kind}); of.addOns[api] != nil {
			all = append(all, use{api, fmt.Sprintf("has %s %s (%s)", gvk.Kind, text.Name(manifest.GetName()), text.Name(gvk.Group))})
		}
	}
	return all
}

// permitted are the APIs that the rules of a role name. Rules for all groups name none.
func permitted(role *unstructured.Unstructured, of brought) (all []use) {
	rules, _, _ := unstructured.NestedSlice(role.Object, "rules") // a role without rules names none
	for _, one := range rules {
		rule, ok := one.(map[string]any)
		if !ok {
			continue
		}
		groups, _, _ := unstructured.NestedStringSlice(rule, "apiGroups")
		resources, _, _ := unstructured.NestedStringSlice(rule, "resources")
		for at, api := range of.kinds {
			if !slices.Contains(groups, at.group) || !slices.ContainsFunc(resources, at.named) {
				continue
			}
			all = append(all, use{api, fmt.Sprintf("%s %s has rules for %s.%s",
				role.GetKind(), text.Name(role.GetName()), text.Name(at.resource), text.Name(at.group))})
		}
	}
	return all
}

// named reports whether a rule for a resource, or for a subresource of it, is for this one.
func (r resource) named(inRule string) bool {
	name, _, _ := strings.Cut(inRule, "/")
	return name == "*" || name == r.resource
}
