package index

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/pkg/text"
)

// WishesKind is the kind of the file that says what users want.
const WishesKind = "AddOnWishes"

// DefaultKind is the name of the kind of clusters where the wishes name none.
const DefaultKind = "default"

// Wishes are the add-ons that are wanted, and the kinds of managed clusters that they are for.
type Wishes struct {
	metav1.TypeMeta `json:",inline"`
	AddOns          []Wish `json:"addOns"`
	// ClusterKinds are resolved one by one. Without any, there is one kind, and nothing is known about it.
	ClusterKinds []ClusterKind `json:"clusterKinds,omitempty"`
}

// Wish is an add-on that is wanted.
type Wish struct {
	Name        string                               `json:"name"`
	Version     string                               `json:"version,omitempty"`
	Prereleases *addonv1alpha1.DependencyPrereleases `json:"prereleases,omitempty"`
	// OnlyIfNeeded: it limits the versions of an add-on that another one needs.
	OnlyIfNeeded bool `json:"onlyIfNeeded,omitempty"`
	// ClusterKinds are those that the wish is for; none: all.
	ClusterKinds []string `json:"clusterKinds,omitempty"`
}

// ClusterKind is what is the same for managed clusters of one kind.
type ClusterKind struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	Claims map[string]string `json:"claims,omitempty"`
	// Kubernetes is their version, OCM that of the hub.
	Kubernetes string `json:"kubernetes,omitempty"`
	OCM        string `json:"ocm,omitempty"`
	// APIs are those that the clusters serve without any add-on.
	APIs []addonv1alpha1.AddonAPI `json:"apis,omitempty"`
}

// ReadWishes reads and checks a file. It returns its content too.
func ReadWishes(path string) (*Wishes, []byte, error) {
	content, err := contentOf(path)
	if err != nil {
		return nil, nil, err
	}
	wishes, err := DecodeWishes(content)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return wishes, content, nil
}

// DecodeWishes reads and checks wishes that are no file.
func DecodeWishes(content []byte) (*Wishes, error) {
	var wishes Wishes
	if err := decode(content, WishesKind, &wishes); err != nil {
		return nil, err
	}
	if err := wishes.check(); err != nil {
		return nil, err
	}
	if len(wishes.ClusterKinds) == 0 {
		wishes.ClusterKinds = []ClusterKind{{Name: DefaultKind}}
	}
	return &wishes, nil
}

func (w *Wishes) check() error {
	if len(w.AddOns) == 0 {
		return fmt.Errorf("addOns: name at least one add-on")
	}
	known := map[string]bool{}
	for i, kind := range w.ClusterKinds {
		if kind.Name == "" || known[kind.Name] {
			return fmt.Errorf("clusterKinds[%d].name: %q: must be a name that no other kind has", i, text.Excerpt(kind.Name))
		}
		known[kind.Name] = true
	}
	for i := range w.AddOns {
		one := &w.AddOns[i]
		if one.Name == "" {
			return fmt.Errorf("addOns[%d].name: name an add-on", i)
		}
		for j, name := range one.ClusterKinds {
			if !known[name] {
				return fmt.Errorf("addOns[%d].clusterKinds[%d]: %q: there is no such kind of clusters", i, j, text.Excerpt(name))
			}
		}
	}
	return nil
}

// of returns the wishes for a kind of clusters.
func (w *Wishes) of(kind string) []resolution.Wish {
	var wishes []resolution.Wish
	for i := range w.AddOns {
		if one := &w.AddOns[i]; len(one.ClusterKinds) == 0 || slices.Contains(one.ClusterKinds, kind) {
			wishes = append(wishes, resolution.Wish{
				AddOn: one.Name, Version: one.Version, Prereleases: one.Prereleases, OnlyIfNeeded: one.OnlyIfNeeded,
			})
		}
	}
	return wishes
}
