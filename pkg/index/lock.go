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

// LockKind is the kind of the file that says what was chosen.
const LockKind = "AddOnLock"

// Lock is what was chosen for each kind of managed clusters. It is the same for the same wishes and index.
type Lock struct {
	metav1.TypeMeta `json:",inline"`
	ClusterKinds    []LockedKind `json:"clusterKinds"`
}

// LockedKind is what was chosen for a kind of clusters.
type LockedKind struct {
	ClusterKind `json:",inline"`
	AddOns      []LockedAddOn `json:"addOns"`
	// Assumptions are what has to be true of the clusters besides, for people.
	Assumptions []string `json:"assumptions,omitempty"`
}

// LockedAddOn is a chosen release.
type LockedAddOn struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"`
	Source  string `json:"source,omitempty"`
	// Needs are the chosen add-ons that come first.
	Needs []string `json:"needs,omitempty"`
	// Because are the reasons for the choice, for people.
	Because []string `json:"because"`
	// PassedOver are higher versions, the highest three.
	PassedOver []PassedOver `json:"passedOver,omitempty"`
}

// PassedOver is a higher version that was not chosen.
type PassedOver struct {
	Version string `json:"version"`
	Because string `json:"because"`
}

// Resolve chooses versions for each kind of clusters. Its error has the conflicts of all of them.
func Resolve(entries []Entry, wishes *Wishes) (*Lock, error) {
	releases := make([]resolution.Release, 0, len(entries))
	for i := range entries {
		releases = append(releases, entries[i].Of)
	}
	lock := &Lock{TypeMeta: typeOf(LockKind)}
	var errs []error
	for _, kind := range wishes.ClusterKinds {
		found, err := resolution.Resolve(releases, wishes.of(kind.Name), resolution.Kind(kind))
		if err != nil {
			if !errors.As(err, new(*resolution.Conflict)) {
				err = fmt.Errorf("clusters of kind %s: %w", kind.Name, err)
			}
			errs = append(errs, err)
			continue
		}
		lock.ClusterKinds = append(lock.ClusterKinds, lockedKind(kind, found, entries))
	}
	slices.SortFunc(lock.ClusterKinds, func(a, b LockedKind) int { return cmp.Compare(a.Name, b.Name) })
	return lock, errors.Join(errs...)
}

func lockedKind(kind ClusterKind, found *resolution.Resolution, entries []Entry) LockedKind {
	locked := LockedKind{ClusterKind: kind, AddOns: []LockedAddOn{}, Assumptions: found.Assumptions}
	for _, choice := range found.Choices {
		one := LockedAddOn{Name: choice.AddOn, Version: choice.Version, Needs: choice.Needs, Because: choice.Because}
		if entry := find(entries, choice.AddOn, choice.Version); entry != nil {
			one.Digest, one.Source = entry.Digest, entry.Source
		}
		for _, passed := range choice.PassedOver {
			one.PassedOver = append(one.PassedOver, PassedOver(passed))
		}
		locked.AddOns = append(locked.AddOns, one)
	}
	return locked
}

func find(entries []Entry, name, version string) *Entry {
	at := slices.IndexFunc(entries, func(one Entry) bool { return one.Name == name && one.Version == version })
	if at < 0 {
		return nil
	}
	return &entries[at]
}

// note begins the file of a lock.
const note = "# Written by kubectl addon resolve. Change the wishes instead of this file.\n"

// Bytes is the lock as a file.
func (l *Lock) Bytes() ([]byte, error) {
	content, err := yaml.Marshal(l)
	return append([]byte(note), content...), err
}

// DecodeLock reads a lock that is no file.
func DecodeLock(content []byte) (*Lock, error) {
	var lock Lock
	return &lock, decode(content, LockKind, &lock)
}

// Locked returns the releases of an index that the lock names, in the order of the index.
func (l *Lock) Locked(entries []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(entry Entry) bool {
		return !slices.ContainsFunc(l.ClusterKinds, func(kind LockedKind) bool {
			return slices.ContainsFunc(kind.AddOns, func(one LockedAddOn) bool { return one.Name == entry.Name && one.Version == entry.Version })
		})
	})
}

// Satisfies returns an error unless the locked releases, without all others, satisfy the wishes. It does not find out whether
// other releases would be higher.
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
