package index

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/pkg/text"
)

// LockKind is the kind of the file with the chosen releases.
const LockKind = "AddOnLock"

// Lock has the chosen releases for each kind of managed clusters. The same wishes and index give the same lock.
type Lock struct {
	metav1.TypeMeta `json:",inline"`
	ClusterKinds    []LockedKind `json:"clusterKinds"`
}

// LockedKind has the chosen releases for a kind of clusters.
type LockedKind struct {
	ClusterKind `json:",inline"`
	AddOns      []LockedAddOn `json:"addOns"`
	// Assumptions are conditions on the clusters that the choice relies on and could not check. Only people read them.
	Assumptions []string `json:"assumptions,omitempty"`
}

// LockedAddOn is a chosen release.
type LockedAddOn struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
	// Source is the origin of the manifests. Only people read it, and two folders with the same content have the same digest.
	Source string `json:"source,omitempty"`
	// Needs has the chosen add-ons that have to be installed before this one.
	Needs []string `json:"needs,omitempty"`
	// Because has the reasons for the choice. Only people read them.
	Because []string `json:"because"`
	// PassedOver has the highest three of the higher versions.
	PassedOver []PassedOver `json:"passedOver,omitempty"`
}

// PassedOver is a higher version that was not chosen.
type PassedOver struct {
	Version string `json:"version"`
	Because string `json:"because"`
}

// Resolve chooses versions for each kind of clusters. Its error has the conflicts of all kinds.
func Resolve(entries []Entry, wishes *Wishes) (*Lock, error) {
	releases := make([]resolution.Release, 0, len(entries))
	for i := range entries {
		releases = append(releases, entries[i].Input)
	}
	lock := &Lock{TypeMeta: typeOf(LockKind)}
	var errs []error
	for _, kind := range wishes.ClusterKinds {
		result, err := resolution.Resolve(releases, wishes.forKind(kind.Name), resolution.Kind(kind))
		if err != nil {
			if !errors.As(err, new(*resolution.Conflict)) {
				err = fmt.Errorf("clusters of kind %s: %w", kind.Name, err)
			}
			errs = append(errs, err)
			continue
		}
		lock.ClusterKinds = append(lock.ClusterKinds, lockedKind(kind, result, entries))
	}
	slices.SortFunc(lock.ClusterKinds, func(a, b LockedKind) int { return cmp.Compare(a.Name, b.Name) })
	return lock, errors.Join(errs...)
}

func lockedKind(kind ClusterKind, result *resolution.Resolution, entries []Entry) LockedKind {
	locked := LockedKind{ClusterKind: kind, AddOns: []LockedAddOn{}, Assumptions: result.Assumptions}
	for _, choice := range result.Choices {
		addOn := LockedAddOn{Name: choice.AddOn, Version: choice.Version, Needs: choice.Needs, Because: choice.Because}
		if entry := find(entries, choice.AddOn, choice.Version); entry != nil {
			addOn.Digest, addOn.Source = entry.Digest, entry.Source
		}
		for _, version := range choice.PassedOver {
			addOn.PassedOver = append(addOn.PassedOver, PassedOver(version))
		}
		locked.AddOns = append(locked.AddOns, addOn)
	}
	return locked
}

func find(entries []Entry, name, version string) *Entry {
	i := slices.IndexFunc(entries, func(entry Entry) bool { return entry.Name == name && entry.Version == version })
	if i < 0 {
		return nil
	}
	return &entries[i]
}

// WithSources returns the lock with the sources that another lock has for the same releases. A source is a note for readers.
func (l *Lock) WithSources(other *Lock) *Lock {
	merged := &Lock{TypeMeta: l.TypeMeta, ClusterKinds: slices.Clone(l.ClusterKinds)}
	for i := range merged.ClusterKinds {
		kind := &merged.ClusterKinds[i]
		kind.AddOns = slices.Clone(kind.AddOns)
		for j := range kind.AddOns {
			addOn := &kind.AddOns[j]
			if same := other.locked(kind.Name, addOn.Name); same != nil && same.Version == addOn.Version && same.Digest == addOn.Digest {
				addOn.Source = same.Source
			}
		}
	}
	return merged
}

// header is the first line of the file of a lock.
const header = "# Written by kubectl addon resolve. Change the wishes instead of this file.\n"

// Bytes returns the content of the lock's file.
func (l *Lock) Bytes() ([]byte, error) {
	content, err := yaml.Marshal(l)
	return append([]byte(header), content...), err
}

// DecodeLock reads the content of a lock's file.
func DecodeLock(content []byte) (*Lock, error) {
	var lock Lock
	return &lock, decode(content, LockKind, &lock)
}

// Locked returns the releases of an index that the lock names, in the order of the index.
func (l *Lock) Locked(entries []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(entry Entry) bool {
		isLocked := func(addOn LockedAddOn) bool { return addOn.Name == entry.Name && addOn.Version == entry.Version }
		return !slices.ContainsFunc(l.ClusterKinds, func(kind LockedKind) bool { return slices.ContainsFunc(kind.AddOns, isLocked) })
	})
}

// Satisfies returns an error unless the locked releases alone satisfy the wishes. It does not check whether the index has higher
// releases that do.
func (l *Lock) Satisfies(wishes *Wishes, entries []Entry) error {
	if len(l.ClusterKinds) != len(wishes.ClusterKinds) {
		return errors.New("it is for other kinds of clusters than the wishes")
	}
	for _, kind := range wishes.ClusterKinds {
		own, err := l.Only(kind.Name)
		if err != nil {
			return err
		}
		if !equality.Semantic.DeepEqual(own.ClusterKinds[0].ClusterKind, kind) {
			return fmt.Errorf("clusters of kind %s are others than those of the wishes", text.Name(kind.Name))
		}
		if _, err := Resolve(own.Locked(entries), &Wishes{AddOns: wishes.AddOns, ClusterKinds: []ClusterKind{kind}}); err != nil {
			return err
		}
	}
	return nil
}

// ReadLock reads a lock.
func ReadLock(path string) (*Lock, error) {
	var lock Lock
	return &lock, readFile(path, LockKind, &lock)
}
