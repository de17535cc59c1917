package index

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"open-cluster-management.io/interlock/pkg/text"
)

// Difference is a difference between a lock, and the lock that resolving again gives.
type Difference struct {
	// ClusterKind is empty for a difference of the whole file.
	ClusterKind string
	// AddOn is empty for a difference of the kind of clusters.
	AddOn string
	// Locked and Resolved are versions. Either is empty if its lock does not have the add-on.
	Locked, Resolved string
	Message          string
}

// String returns the difference as a sentence.
func (d Difference) String() string {
	var subject []string
	if d.ClusterKind != "" {
		subject = append(subject, "clusters of kind "+text.Name(d.ClusterKind))
	}
	if d.AddOn != "" {
		subject = append(subject, text.Name(d.AddOn))
	}
	switch {
	case d.Locked != "" && d.Resolved != "" && d.Locked != d.Resolved:
		subject = append(subject, fmt.Sprintf("locked %s, found %s", text.Excerpt(d.Locked), text.Excerpt(d.Resolved)))
	case d.Locked != "" && d.Resolved == "":
		subject = append(subject, "locked "+text.Excerpt(d.Locked)+", found none")
	case d.Locked == "" && d.Resolved != "":
		subject = append(subject, "not locked, found "+text.Excerpt(d.Resolved))
	}
	return strings.Join(append(subject, d.Message), ": ")
}

// Differences returns the differences between a lock, and the lock that resolving again gives, by kind and add-on. It ignores the
// sources of releases. Without any, only comments, order or form of the file differ.
func Differences(locked, resolved *Lock) []Difference {
	differences := []Difference{}
	for i := range locked.ClusterKinds {
		if kind := &locked.ClusterKinds[i]; resolved.kind(kind.Name) == nil {
			differences = append(differences, Difference{ClusterKind: kind.Name, Message: "the wishes do not name this kind"})
		}
	}
	for i := range resolved.ClusterKinds {
		kind := &resolved.ClusterKinds[i]
		old := locked.kind(kind.Name)
		if old == nil {
			differences = append(differences, Difference{ClusterKind: kind.Name, Message: "the lock does not have this kind"})
			continue
		}
		differences = append(differences, kindDifferences(old, kind)...)
	}
	return differences
}

func kindDifferences(old, kind *LockedKind) []Difference {
	var differences []Difference
	if !equality.Semantic.DeepEqual(old.ClusterKind, kind.ClusterKind) {
		differences = append(differences, Difference{
			ClusterKind: kind.Name, Message: "the wishes describe this kind with other labels, claims, versions or APIs",
		})
	}
	for i := range old.AddOns {
		if addOn := &old.AddOns[i]; kind.addOn(addOn.Name) == nil {
			differences = append(differences, Difference{kind.Name, addOn.Name, addOn.Version, "", "no wish and no chosen add-on needs it"})
		}
	}
	for i := range kind.AddOns {
		addOn := &kind.AddOns[i]
		if message := addOnDifference(old.addOn(addOn.Name), addOn); message != "" {
			differences = append(differences, Difference{kind.Name, addOn.Name, versionOf(old.addOn(addOn.Name)), addOn.Version, message})
		}
	}
	slices.SortStableFunc(differences, func(a, b Difference) int { return strings.Compare(a.AddOn, b.AddOn) })
	if !slices.Equal(old.Assumptions, kind.Assumptions) {
		differences = append(differences, Difference{ClusterKind: kind.Name, Message: "it relies on other assumptions"})
	}
	return differences
}

// addOnDifference describes the difference between two locked releases. It returns an empty string if there is none.
func addOnDifference(old, addOn *LockedAddOn) string {
	switch {
	case old == nil:
		return strings.Join(addOn.Because, "; ")
	case old.Version != addOn.Version:
		return strings.Join(addOn.reasons(old.Version), "; ")
	case old.Digest != addOn.Digest:
		return fmt.Sprintf("%s has another content: locked %s, found %s", addOn.Version, text.Excerpt(old.Digest), addOn.Digest)
	case !slices.Equal(old.Needs, addOn.Needs):
		return fmt.Sprintf("%s needs other add-ons: locked %s, found %s", addOn.Version, listOf(old.Needs), listOf(addOn.Needs))
	case !slices.Equal(old.Because, addOn.Because):
		return addOn.Version + " is chosen for another reason: " + strings.Join(addOn.Because, "; ")
	case !slices.Equal(old.PassedOver, addOn.PassedOver):
		return fmt.Sprintf("%s is chosen, and other higher versions are passed over: %s", addOn.Version, passedOverText(addOn.PassedOver))
	default:
		return ""
	}
}

func versionOf(addOn *LockedAddOn) string {
	if addOn == nil {
		return ""
	}
	return addOn.Version
}

func listOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func passedOverText(versions []PassedOver) string {
	var parts []string
	for _, higher := range versions {
		parts = append(parts, higher.Version+" ("+higher.Because+")")
	}
	return listOf(parts)
}

// Check returns the differences between a lock and the releases of an index.
func Check(lock *Lock, entries []Entry) []Difference {
	var differences []Difference
	for _, kind := range lock.ClusterKinds {
		for _, addOn := range kind.AddOns {
			difference := Difference{ClusterKind: kind.Name, AddOn: addOn.Name, Locked: addOn.Version}
			entry := find(entries, addOn.Name, addOn.Version)
			switch {
			case entry == nil:
				difference.Message = fmt.Sprintf("clusters of kind %s: %s %s is locked, and the index has no such release",
					text.Name(kind.Name), text.Name(addOn.Name), text.Excerpt(addOn.Version))
				if addOn.Source != "" { // it may be a folder
					difference.Message += fmt.Sprintf(": name the --index or --workspace that resolve had (the lock notes: %s)", text.Excerpt(addOn.Source))
				}
			case entry.Digest != addOn.Digest:
				difference.Resolved = entry.Version
				difference.Message = fmt.Sprintf("clusters of kind %s: %s %s is locked with digest %s, and that of the index has %s",
					text.Name(kind.Name), addOn.Name, addOn.Version, text.Excerpt(addOn.Digest), entry.Digest)
			default:
				continue
			}
			differences = append(differences, difference)
		}
	}
	return differences
}

// CheckError returns the differences between a lock and the releases of an index as an error, or nil.
func CheckError(lock *Lock, entries []Entry) error {
	var errs []error
	for _, difference := range Check(lock, entries) {
		errs = append(errs, errors.New(difference.Message))
	}
	return errors.Join(errs...)
}

// kind returns the locked kind of a name, or nil.
func (l *Lock) kind(name string) *LockedKind {
	i := slices.IndexFunc(l.ClusterKinds, func(kind LockedKind) bool { return kind.Name == name })
	if i < 0 {
		return nil
	}
	return &l.ClusterKinds[i]
}

// addOn returns the locked release of an add-on, or nil.
func (k *LockedKind) addOn(name string) *LockedAddOn {
	i := slices.IndexFunc(k.AddOns, func(addOn LockedAddOn) bool { return addOn.Name == name })
	if i < 0 {
		return nil
	}
	return &k.AddOns[i]
}
