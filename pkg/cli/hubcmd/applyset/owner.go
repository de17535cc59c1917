package applyset

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Owner is the tool that an object belongs to.
type Owner struct {
	// Release and Namespace name a release of Helm.
	Release, Namespace string
	// Set is the ID of another set.
	Set string
	// Writer is the field manager that wrote the object last, if there is neither a release nor a set.
	Writer string
}

// IsHelm reports whether the object belongs to a release of Helm.
func (o Owner) IsHelm() bool { return o.Release != "" }

// OwnerOf returns the tool that an object belongs to, by the marks that tools leave.
func OwnerOf(object *unstructured.Unstructured) Owner {
	annotations, labels := object.GetAnnotations(), object.GetLabels()
	owner := Owner{
		Release: annotations["meta.helm.sh/release-name"], Namespace: annotations["meta.helm.sh/release-namespace"],
		Set: labels[partOfLabel],
	}
	if owner.IsHelm() || owner.Set != "" {
		return owner
	}
	for _, entry := range object.GetManagedFields() {
		owner.Writer = cmp.Or(entry.Manager, owner.Writer)
	}
	return owner
}

// String names the tool, for people.
func (o Owner) String() string {
	switch {
	case o.IsHelm():
		return "the Helm release " + o.Release + " in " + o.Namespace
	case o.Set != "":
		return "the ApplySet " + o.Set
	default:
		return "the field manager " + cmp.Or(o.Writer, "of another tool")
	}
}
