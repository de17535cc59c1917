package evaluation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// Finding is the verdict on one edge, with what it rests on.
type Finding struct {
	// Dependency is the edge; a name like requirements.kubernetes is that of a
	// requirement. It is shared: it must not be changed.
	Dependency *addonv1alpha1.AddonDependency
	Verdict    Verdict
	// Degraded is set for NotAvailable when a Required dependency of the
	// dependency fails; else Available is, when the condition exists.
	Degraded, Available *metav1.Condition
	// Cycle is set for Cycle: the members in canonical order, closed.
	Cycle []string
	// Until is set for Held when it ends by itself: the moment to look again.
	Until time.Time
	// Detail is set where the finding rests on more than the proposal's rule.
	Detail *Detail
}

// noDependency is that of a finding on a declaration that cannot be used.
var noDependency addonv1alpha1.AddonDependency

// Detail is what a finding rests on beyond the proposal's rule.
type Detail struct {
	// Requirement says what of the platform is required; empty for an edge.
	Requirement string
	// Version is what was found; its Source is empty for the platform's.
	Version versions.Version
	// Because says why that does not do.
	Because string
	// Providers are the add-ons that bring the API.
	Providers []string
	// ConditionError says why the edge's condition could not be evaluated; the
	// edge then applies.
	ConditionError string
}

// Unsatisfied reports whether the edge is known not to be satisfied.
func (f Finding) Unsatisfied() bool {
	return f.Verdict != Satisfied && f.Verdict != Held && f.Verdict != NotApplicable
}

// Held reports whether the last verdict on the edge is kept.
func (f Finding) Held() bool { return f.Verdict == Held }

// Blocks reports whether the add-on cannot work while the edge is unsatisfied.
func (f Finding) Blocks() bool { return declaration.Blocks(f.Dependency.Type) }

// detail returns the finding's detail, which is made at the first call.
func (f *Finding) detail() *Detail {
	if f.Detail == nil {
		f.Detail = &Detail{}
	}
	return f.Detail
}

// HeldUntil returns the first moment at which a finding that is held ends by
// itself; zero if none does.
func HeldUntil(findings []Finding) time.Time {
	var first time.Time
	for _, finding := range findings {
		if !finding.Until.IsZero() && (first.IsZero() || finding.Until.Before(first)) {
			first = finding.Until
		}
	}
	return first
}
