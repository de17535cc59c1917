package index

import (
	"cmp"
	"slices"
)

// Move is an add-on whose release differs between two locks, for clusters of one kind.
type Move struct {
	ClusterKind string `json:"clusterKind"`
	AddOn       string `json:"addOn"`
	// From and To are versions; empty: it is not chosen.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Because are the reasons, for people.
	Because []string `json:"because"`
}

// Moves returns what differs between two locks, by kind and add-on.
func Moves(before, after *Lock) []Move {
	moves := []Move{}
	for _, kind := range before.ClusterKinds {
		for i := range kind.AddOns {
			if one := &kind.AddOns[i]; after.locked(kind.Name, one.Name) == nil {
				moves = append(moves, Move{kind.Name, one.Name, one.Version, "", []string{"no wish and no chosen add-on needs it"}})
			}
		}
	}
	for _, kind := range after.ClusterKinds {
		for i := range kind.AddOns {
			to := &kind.AddOns[i]
			from := before.locked(kind.Name, to.Name)
			switch {
			case from == nil:
				moves = append(moves, Move{kind.Name, to.Name, "", to.Version, to.Because})
			case from.Version != to.Version:
				moves = append(moves, Move{kind.Name, to.Name, from.Version, to.Version, to.reasons(from.Version)})
			case from.Digest != to.Digest:
				moves = append(moves, Move{kind.Name, to.Name, from.Version, to.Version, []string{"the release has another content under the same version"}})
			}
		}
	}
	slices.SortFunc(moves, func(a, b Move) int {
		return cmp.Or(cmp.Compare(a.ClusterKind, b.ClusterKind), cmp.Compare(a.AddOn, b.AddOn))
	})
	return moves
}

// reasons are those for the choice, after the one for which the former version is passed over.
func (l *LockedAddOn) reasons(former string) []string {
	var reasons []string
	for _, passed := range l.PassedOver {
		if passed.Version == former {
			reasons = append(reasons, former+" is passed over: "+passed.Because)
		}
	}
	return append(reasons, l.Because...)
}

// locked is the release of an add-on for clusters of a kind; nil: it is not chosen.
func (l *Lock) locked(kind, addOn string) *LockedAddOn {
	for i := range l.ClusterKinds {
		if l.ClusterKinds[i].Name != kind {
			continue
		}
		addOns := l.ClusterKinds[i].AddOns
		if at := slices.IndexFunc(addOns, func(one LockedAddOn) bool { return one.Name == addOn }); at >= 0 {
			return &addOns[at]
		}
	}
	return nil
}

// Find returns the release of an add-on in a version; nil: there is none.
func Find(entries []Entry, name, version string) *Entry { return find(entries, name, version) }
