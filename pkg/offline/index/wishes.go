package index

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/pkg/files/lineend"
	"open-cluster-management.io/interlock/pkg/text"
)

// WishesKind is the kind of the file with the wishes of users.
const WishesKind = "AddOnWishes"

// DefaultKind is the name of the only kind of clusters, if the wishes name no kind.
const DefaultKind = "default"

// Wishes are the add-ons that users want, and the kinds of managed clusters that the add-ons are for.
type Wishes struct {
	metav1.TypeMeta `json:",inline"`
	AddOns          []Wish `json:"addOns"`
	// ClusterKinds are resolved separately. Without any, there is a single kind without labels, claims, versions or APIs.
	ClusterKinds []ClusterKind `json:"clusterKinds,omitempty"`
}

// Wish is an add-on that users want.
type Wish struct {
	Name        string                               `json:"name"`
	Version     string                               `json:"version,omitempty"`
	Prereleases *addonv1alpha1.DependencyPrereleases `json:"prereleases,omitempty"`
	// OnlyIfNeeded limits the versions of an add-on without choosing it. Only the need of another add-on chooses it.
	OnlyIfNeeded bool `json:"onlyIfNeeded,omitempty"`
	// ClusterKinds has the kinds that the wish is for. An empty list means all.
	ClusterKinds []string `json:"clusterKinds,omitempty"`
}

// ClusterKind is a group of managed clusters that have the same labels, claims, versions and APIs.
type ClusterKind struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels,omitempty"`
	Claims map[string]string `json:"claims,omitempty"`
	// Kubernetes is the version of the clusters, and OCM the version on the hub.
	Kubernetes string `json:"kubernetes,omitempty"`
	OCM        string `json:"ocm,omitempty"`
	// APIs are the APIs that the clusters serve without any add-on.
	APIs []addonv1alpha1.AddonAPI `json:"apis,omitempty"`
}

// ReadWishes reads and checks the file of wishes. It also returns its content, with the line ends of Unix.
func ReadWishes(path string) (*Wishes, []byte, error) {
	if path == "-" {
		return nil, nil, errors.New("the wishes cannot be read from standard input: name a file")
	}
	content, err := contentOf(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: write the add-ons that you want into it, or name the file that has them", err)
	}
	if err != nil {
		return nil, nil, err
	}
	wishes, err := DecodeWishes(content)
	if err != nil {
		return nil, nil, located(path, content, err)
	}
	return wishes, lineend.Unix(content), nil
}

// DecodeWishes reads and checks the content of a file of wishes.
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
		return fieldErrorf("addOns", "name at least one add-on")
	}
	kinds := map[string]bool{}
	for i, kind := range w.ClusterKinds {
		if kind.Name == "" || kinds[kind.Name] {
			return fieldErrorf(fmt.Sprintf("clusterKinds[%d].name", i), "%q: must be a name that no other kind has", text.Excerpt(kind.Name))
		}
		for _, platform := range [][2]string{{"kubernetes", kind.Kubernetes}, {"ocm", kind.OCM}} {
			if _, err := versions.ParsePlatform(platform[1]); platform[1] != "" && err != nil {
				field := fmt.Sprintf("clusterKinds[%d].%s", i, platform[0])
				return fieldErrorf(field, "%w; 1.36.0 is one", err)
			}
		}
		kinds[kind.Name] = true
	}
	for i := range w.AddOns {
		addOn := &w.AddOns[i]
		if addOn.Name == "" {
			return fieldErrorf(fmt.Sprintf("addOns[%d].name", i), "name an add-on")
		}
		if _, err := versions.ParseRange(addOn.Version, addOn.Prereleases); addOn.Version != "" && err != nil {
			return fieldErrorf(fmt.Sprintf("addOns[%d].version", i), "%q: %w", text.Excerpt(addOn.Version), err)
		}
		for j, name := range addOn.ClusterKinds {
			if !kinds[name] {
				field := fmt.Sprintf("addOns[%d].clusterKinds[%d]", i, j)
				return fieldErrorf(field, "%q: there is no such kind of clusters", text.Excerpt(name))
			}
		}
	}
	return nil
}

// forKind returns the wishes for a kind of clusters.
func (w *Wishes) forKind(kind string) []resolution.Wish {
	var wishes []resolution.Wish
	for i := range w.AddOns {
		if addOn := &w.AddOns[i]; len(addOn.ClusterKinds) == 0 || slices.Contains(addOn.ClusterKinds, kind) {
			wishes = append(wishes, resolution.Wish{
				AddOn: addOn.Name, Version: addOn.Version, Prereleases: addOn.Prereleases, OnlyIfNeeded: addOn.OnlyIfNeeded,
			})
		}
	}
	return wishes
}
