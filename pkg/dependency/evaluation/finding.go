package evaluation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/settings"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Finding is the verdict on one edge or requirement, with what it rests on.
type Finding struct {
	// Dependency is the edge as declared, Requirement a requirement of the
	// platform; one of them is set. They are shared: they must not be changed.
	// Neither is set if it is not known what the add-on declares.
	Dependency  *addonv1alpha1.AddonDependency
	Requirement *declaration.Requirement
	Verdict     Verdict
	// Degraded is set for NotAvailable and Tolerated when a Required dependency of the
	// dependency fails; else Available is, when the condition exists.
	Degraded, Available *metav1.Condition
	// Cycle is set for Cycle: the members in canonical order, closed.
	Cycle []string
	// Until is set for Tolerated and Waived, and for Held when it ends by itself: the moment to evaluate again.
	Until time.Time
	// Due is set for Held where a live agent has still to report facts that were requested, until Until. A
	// decision that can wait, waits for the report. A lost cluster, or a declaration that cannot be used, makes
	// no finding due.
	Due bool
	// Detail is set where the finding rests on more than the proposal's rule.
	Detail *Detail
}

// Detail is what a finding rests on beyond the proposal's rule.
type Detail struct {
	// Version is what was found; its Source is empty for a requirement.
	Version versions.Version
	// Because explains why that does not match, or why an add-on is not installed; for Waived until
	// when and by which policies it is, and why.
	Because string
	// Installs: Interlock is about to install the add-on, and Because says so.
	Installs bool
	// Stopped: Interlock does not install the add-on although the edge asks for it. Because has the reason.
	Stopped bool
	// Policies are the AddOnDependencyPolicies, ascending, that say what the edge needs instead of what is
	// declared, or that it is waived.
	Policies []string
	// Unexplained: whether a Placement selects the cluster could not be read.
	Unexplained bool
	// Installing is since when an add-on that has not reported Available is installed, Removing
	// since when one is being deleted.
	Installing, Removing time.Time
	// Unreported: whether the API is served, with its fields, is not known, because no
	// addon-agent reports it, or the hosting cluster does not exist.
	Unreported bool
	// Served: the API is served, and the edge fails for its fields only.
	Served bool
	// TemplateDue: OCM has still to choose the AddOnTemplate of the add-on, which has its version.
	TemplateDue bool
	// Alternatives are the findings on the alternatives of the edge, in the order declared, where none is satisfied and none
	// is held.
	Alternatives []Finding
	// HostingCluster is set where another managed cluster, which runs the add-on's agent, has to serve the API.
	HostingCluster string
	// Providers are the add-ons that bring the API.
	Providers []string
	// Settings are what the edge wishes for the settings of its add-on, and SettingsUnread that this could not be read yet.
	Settings       []settings.Variable
	SettingsUnread bool
	// ConditionError explains why the edge's condition could not be evaluated; the
	// edge then applies.
	ConditionError string
}

// Name is the name of the edge, or of the requirement, such as
// requirements.kubernetes. It is empty if it is not known what the add-on declares.
func (f Finding) Name() string {
	switch {
	case f.Requirement != nil:
		return f.Requirement.Name
	case f.Dependency != nil:
		return f.Dependency.Name
	default:
		return ""
	}
}

// Target names what the edge is on: an add-on, an API as messages name it, a
// requirement, or alternatives. Edges of different add-ons on the same have the same.
func (f Finding) Target() string {
	switch {
	case f.Requirement != nil || f.Dependency == nil:
		return f.Name()
	case declaration.HasAlternatives(f.Dependency):
		var names []string
		for _, one := range Named(f.Dependency) {
			names = append(names, one.Target())
		}
		return either(names)
	case f.Dependency.API != nil:
		return f.apiTarget()
	default:
		return text.Name(declaration.Target(f.Dependency))
	}
}

// Follows reports whether the dependency fails because a Required dependency of its own
// does, so it is a victim and not the cause.
func (f Finding) Follows() bool {
	return f.Verdict == NotAvailable && (f.Degraded != nil ||
		f.Available != nil && f.Available.Reason == addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied)
}

// Type is the type of the edge. A requirement is Required.
func (f Finding) Type() addonv1alpha1.DependencyType {
	if f.Dependency == nil {
		return addonv1alpha1.DependencyTypeRequired
	}
	return f.Dependency.Type
}

// AuthorMessage is the message that the author declared for the edge.
func (f Finding) AuthorMessage() string {
	switch {
	case f.Dependency == nil:
		return ""
	case f.Verdict == SettingMismatch && f.Dependency.Config != nil && f.Dependency.Config.Message != "":
		return f.Dependency.Config.Message
	default:
		return f.Dependency.Message
	}
}

// Docs is the link that the author declared for the edge.
func (f Finding) Docs() string {
	if f.Dependency == nil {
		return ""
	}
	return f.Dependency.Docs
}

// Unsatisfied reports whether the edge is known not to be satisfied.
func (f Finding) Unsatisfied() bool {
	return f.Verdict.Unsatisfied()
}

// KeepsWaiting reports whether an installation or an upgrade waits for the edge: it is not satisfied, or its report is due.
func (f Finding) KeepsWaiting() bool { return f.Unsatisfied() || f.Due }

// Held reports whether the last verdict on the edge is kept.
func (f Finding) Held() bool { return f.Verdict == Held }

// awaitReport holds the verdict until the report of the agent is due.
func (f *Finding) awaitReport(due time.Time) { f.Verdict, f.Until, f.Due = Held, due, true }

// HeldBecause is why the verdict is held, empty where the state of the cluster shows it.
func (f Finding) HeldBecause() string {
	if !f.Held() || f.Detail == nil {
		return ""
	}
	return f.Detail.Because
}

// Blocks reports whether the add-on cannot work while the edge is unsatisfied.
func (f Finding) Blocks() bool { return f.Type() != addonv1alpha1.DependencyTypeOptional }

// detail returns the finding's detail, which is made at the first call.
func (f *Finding) detail() *Detail {
	if f.Detail == nil {
		f.Detail = &Detail{}
	}
	return f.Detail
}

// HeldUntil returns the first moment at which a finding that is held, tolerated or waived ends
// by itself; zero if none does.
func HeldUntil(findings []Finding) time.Time {
	var first time.Time
	for _, finding := range findings {
		if !finding.Until.IsZero() && (first.IsZero() || finding.Until.Before(first)) {
			first = finding.Until
		}
	}
	return first
}
