package index

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/dependency/graph"
	"open-cluster-management.io/interlock/pkg/text"
)

// Planned is an add-on with its manifests. Its layer is applied after the layers of all add-ons that it needs.
type Planned struct {
	Name      string
	Layer     int
	Manifests []map[string]any
}

// Plan returns the add-ons of the locked kinds of clusters, by layer and name. Its error names a release that differs from the
// lock, or an object that differs between two kinds of clusters: a hub has it only once.
func Plan(lock *Lock, entries []Entry) ([]Planned, error) {
	if err := CheckError(lock, entries); err != nil {
		return nil, err
	}
	edges := map[string][]string{}
	owners := map[string]owner{}
	objects := map[string]map[string]map[string]any{} // by add-on and identity
	for _, kind := range lock.ClusterKinds {
		for _, addOn := range kind.AddOns {
			edges[addOn.Name] = append(edges[addOn.Name], addOn.Needs...)
			if objects[addOn.Name] == nil {
				objects[addOn.Name] = map[string]map[string]any{}
			}
			for _, manifest := range find(entries, addOn.Name, addOn.Version).Manifests {
				identity := identityOf(manifest)
				planned := owner{addOn.Name, addOn.Version, kind.Name}
				if differs(objects, identity, manifest) {
					return nil, planned.differsFrom(owners[identity], identity)
				}
				objects[addOn.Name][identity], owners[identity] = manifest, planned
			}
		}
	}
	layers := graph.New(edges).Depths()
	var planned []Planned
	for name := range edges {
		addOn := Planned{Name: name, Layer: layers[name]}
		for _, identity := range slices.Sorted(maps.Keys(objects[name])) {
			addOn.Manifests = append(addOn.Manifests, objects[name][identity])
		}
		slices.SortStableFunc(addOn.Manifests, compareManifests)
		planned = append(planned, addOn)
	}
	slices.SortFunc(planned, func(a, b Planned) int { return cmp.Or(cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Name, b.Name)) })
	return planned, nil
}

// owner is a locked release that has an object.
type owner struct{ addOn, version, kind string }

func (o owner) String() string {
	return fmt.Sprintf("%s %s for clusters of kind %s", text.Name(o.addOn), text.Excerpt(o.version), text.Name(o.kind))
}

// differsFrom is the error for an object that two locked releases have with different contents.
func (o owner) differsFrom(other owner, identity string) error {
	remedy := "want versions that are the same, or build one kind with --cluster-kind"
	switch {
	case o.addOn == other.addOn && o.version == other.version:
		return fmt.Errorf("%s is in %s %s twice, with different contents: remove or rename one of them, and add the add-on to the index "+
			"in another version", identity, text.Name(o.addOn), text.Excerpt(o.version))
	case o.addOn != other.addOn:
		remedy = "remove or rename it in one of the two, and add that one to the index in another version"
		if o.kind != other.kind {
			remedy += ", or build one kind with --cluster-kind"
		}
	}
	return fmt.Errorf("%s is another one of %s than of %s, and a hub has it once: %s", identity, o, other, remedy)
}

// differs reports whether any add-on has a different manifest for the object with the identity.
func differs(objects map[string]map[string]map[string]any, identity string, manifest map[string]any) bool {
	for _, manifests := range objects {
		if planned := manifests[identity]; planned != nil && !reflect.DeepEqual(planned, manifest) {
			return true
		}
	}
	return false
}

func identityOf(manifest map[string]any) string {
	object := unstructured.Unstructured{Object: manifest}
	name := object.GetName()
	if object.GetNamespace() != "" {
		name = object.GetNamespace() + "/" + name
	}
	return object.GroupVersionKind().GroupKind().String() + " " + name
}

// Only returns the lock of one kind of clusters. An empty kind selects all.
func (l *Lock) Only(kind string) (*Lock, error) {
	if kind == "" {
		return l, nil
	}
	for _, locked := range l.ClusterKinds {
		if locked.Name == kind {
			return &Lock{l.TypeMeta, []LockedKind{locked}}, nil
		}
	}
	return nil, fmt.Errorf("the lock has no kind of clusters %q", text.Excerpt(kind))
}
