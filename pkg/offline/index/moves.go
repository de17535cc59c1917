package index

import (
	"cmp"
	"slices"
)

// Move is an add-on whose release differs between two locks, for clusters of one kind.
type Move struct {
	ClusterKind string `json:"clusterKind"`
	AddOn       string `json:"addOn"`
	// OldVersion is empty for an add-on that was not chosen before, and NewVersion for one that no longer is.
	OldVersion string `json:"from,omitempty"`
	NewVersion string `json:"to,omitempty"`
	// Because has the reasons. Only people read them.
	Because []string `json:"because"`
}

// Moves returns the differences between two locks, by kind and add-on.
func Moves(oldLock, newLock *Lock) []Move {
	moves := []Move{}
	for _, kind := range oldLock.ClusterKinds {
		for i := range kind.AddOns {
			if addOn := &kind.AddOns[i]; newLock.locked(kind.Name, addOn.Name) == nil {
				moves = append(moves, Move{kind.Name, addOn.Name, addOn.Version, "", []string{"no wish and no chosen add-on needs it"}})
			}
		}
	}
	for _, kind := range newLock.ClusterKinds {
		for i := range kind.AddOns {
			addOn := &kind.AddOns[i]
			old := oldLock.locked(kind.Name, addOn.Name)
			switch {
			case old == nil:
				moves = append(moves, Move{kind.Name, addOn.Name, "", addOn.Version, addOn.Because})
			case old.Version != addOn.Version:
				moves = append(moves, Move{kind.Name, addOn.Name, old.Version, addOn.Version, addOn.reasons(old.Version)})
			case old.Digest != addOn.Digest:
				reason := "the release has another content under the same version"
				moves = append(moves, Move{kind.Name, addOn.Name, old.Version, addOn.Version, []string{reason}})
			}
		}
	}
	slices.SortFunc(moves, func(a, b Move) int {
		return cmp.Or(cmp.Compare(a.ClusterKind, b.ClusterKind), cmp.Compare(a.AddOn, b.AddOn))
	})
	return moves
}

// reasons returns the reason against the old version, if it is passed over, and then the reasons for the choice.
func (l *LockedAddOn) reasons(oldVersion string) []string {
	var reasons []string
	for _, higher := range l.PassedOver {
		if higher.Version == oldVersion {
			reasons = append(reasons, oldVersion+" is passed over: "+higher.Because)
		}
	}
	return append(reasons, l.Because...)
}

// locked returns the release of an add-on for clusters of a kind, or nil if the add-on is not chosen.
func (l *Lock) locked(kind, addOn string) *LockedAddOn {
	if locked := l.kind(kind); locked != nil {
		return locked.addOn(addOn)
	}
	return nil
}

// Find returns the release of an add-on in a version, or nil.
func Find(entries []Entry, name, version string) *Entry { return find(entries, name, version) }
