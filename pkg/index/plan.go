package index

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/dependency/graph"
	"open-cluster-management.io/interlock/pkg/text"
)

// Planned is an add-on with its manifests, in the layer in which it is applied: after all that it needs.
type Planned struct {
	Name      string
	Layer     int
	Manifests []map[string]any
}

// Plan returns the add-ons of the locked kinds of clusters, by layer and name. Its error is about a release that is not
// the locked one, or an object that two kinds of clusters want to be different: a hub has it once.
func Plan(lock *Lock, entries []Entry) ([]Planned, error) {
	if err := errors.Join(Check(lock, entries)...); err != nil {
		return nil, err
	}
	edges := map[string][]string{}
	owners := map[string]string{}
	objects := map[string]map[string]map[string]any{} // by add-on and identity
	for _, kind := range lock.ClusterKinds {
		for _, one := range kind.AddOns {
			edges[one.Name] = append(edges[one.Name], one.Needs...)
			if objects[one.Name] == nil {
				objects[one.Name] = map[string]map[string]any{}
			}
			for _, manifest := range find(entries, one.Name, one.Version).Manifests {
				identity := identityOf(manifest)
				owner := fmt.Sprintf("%s %s for clusters of kind %s", one.Name, one.Version, text.Name(kind.Name))
				if differs(objects, identity, manifest) {
					return nil, fmt.Errorf("%s is another one of %s than of %s, and a hub has it once: "+
						"want versions that are the same, or build one kind with --cluster-kind", identity, owner, owners[identity])
				}
				objects[one.Name][identity], owners[identity] = manifest, owner
			}
		}
	}
	layers := graph.New(edges).Depths()
	var planned []Planned
	for name := range edges {
		one := Planned{Name: name, Layer: layers[name]}
		for _, identity := range slices.Sorted(maps.Keys(objects[name])) {
			one.Manifests = append(one.Manifests, objects[name][identity])
		}
		slices.SortStableFunc(one.Manifests, compareManifests)
		planned = append(planned, one)
	}
	slices.SortFunc(planned, func(a, b Planned) int { return cmp.Or(cmp.Compare(a.Layer, b.Layer), cmp.Compare(a.Name, b.Name)) })
	return planned, nil
}

// differs reports whether an add-on has another object of that identity.
func differs(objects map[string]map[string]map[string]any, identity string, manifest map[string]any) bool {
	for _, of := range objects {
		if other := of[identity]; other != nil && !reflect.DeepEqual(other, manifest) {
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

// Check returns what differs between a lock and the releases of an index.
func Check(lock *Lock, entries []Entry) (differences []error) {
	for _, kind := range lock.ClusterKinds {
		for _, one := range kind.AddOns {
			entry := find(entries, one.Name, one.Version)
			switch {
			case entry == nil:
				differences = append(differences, fmt.Errorf("clusters of kind %s: %s %s is locked, and the index has no such release",
					text.Name(kind.Name), text.Name(one.Name), text.Excerpt(one.Version)))
			case entry.Digest != one.Digest:
				differences = append(differences, fmt.Errorf("clusters of kind %s: %s %s is locked with digest %s, and that of the index has %s",
					text.Name(kind.Name), one.Name, one.Version, text.Excerpt(one.Digest), entry.Digest))
			}
		}
	}
	return differences
}

// Only returns the lock of one kind of clusters; all of them without a name.
func (l *Lock) Only(kind string) (*Lock, error) {
	if kind == "" {
		return l, nil
	}
	for _, one := range l.ClusterKinds {
		if one.Name == kind {
			return &Lock{l.TypeMeta, []LockedKind{one}}, nil
		}
	}
	return nil, fmt.Errorf("the lock has no kind of clusters %q", text.Excerpt(kind))
}
