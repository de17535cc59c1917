package index

import (
	"errors"
	"fmt"
	"strings"

	"open-cluster-management.io/interlock/pkg/dependency/resolution"
	"open-cluster-management.io/interlock/pkg/text"
)

// Misfits returns the ways in which a lock no longer fits the wishes: the locked releases alone do not satisfy them, or no wish needs
// one of them. Higher releases in the index do not count.
func (l *Lock) Misfits(wishes *Wishes, entries []Entry) []string {
	if err := l.Satisfies(wishes, entries); err != nil {
		return []string{misfitOf(err)}
	}
	var misfits []string
	for _, kind := range wishes.ClusterKinds {
		own, err := l.Only(kind.Name)
		if err != nil {
			return append(misfits, err.Error())
		}
		needed, err := Resolve(own.Locked(entries), &Wishes{AddOns: wishes.AddOns, ClusterKinds: []ClusterKind{kind}})
		if err != nil {
			return append(misfits, err.Error())
		}
		for _, addOn := range own.ClusterKinds[0].AddOns {
			if needed.locked(kind.Name, addOn.Name) == nil {
				misfits = append(misfits, fmt.Sprintf("clusters of kind %s: %s is locked, and no wish needs it",
					text.Name(kind.Name), text.Name(addOn.Name)))
			}
		}
	}
	return misfits
}

// misfitOf names the wishes that the locked releases do not satisfy.
func misfitOf(err error) string {
	var conflict *resolution.Conflict
	if !errors.As(err, &conflict) {
		return err.Error()
	}
	var wishes []string
	for _, wish := range conflict.Wishes {
		name := text.Name(wish.AddOn)
		if wish.Version != "" {
			name += " in version '" + text.Excerpt(wish.Version) + "'"
		}
		wishes = append(wishes, name)
	}
	return "the locked releases do not satisfy what is wanted: " + strings.Join(wishes, ", ")
}
