package evaluation

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Finding is the verdict on an edge or requirement, with its reasons.
type Finding struct {
	// Dependency is the declared edge, and Requirement the requirement on the platform. Exactly one of them is
	// set. Both are nil if the declaration of the add-on is unknown. They are shared and must not be changed.
	Dependency  *addonv1alpha1.AddonDependency
	Requirement *declaration.Requirement
	Verdict     Verdict
	// Degraded is the condition of the dependency for NotAvailable and Tolerated, if one of its Required dependencies
	// fails.
	Degraded *metav1.Condition
	// Available is the condition of the dependency for NotAvailable and Tolerated, if Degraded is nil.
	Available *metav1.Condition
	// Cycle has the members of the cycle for the verdict Cycle, in canonical order. The first member is repeated at
	// the end.
	Cycle []string
	// Until is the time of the next evaluation for Tolerated and Waived. It is set for Held only if Held ends by itself.
	Until time.Time
	// Due is true for Held while a live agent has to report requested facts, at the latest until Until. Decisions that
	// can wait, wait for the report. It is false for a lost cluster and for an unusable declaration.
	Due bool
	// Detail has reasons beyond the proposal's rule. It is nil without such reasons.
	Detail *Detail
}

// Detail has the reasons of a finding that the proposal does not have.
type Detail struct {
	// Version is the version of the add-on or the platform. Its Source is empty for a requirement.
	Version versions.Version
	// Because explains a mismatch, or why an add-on is not installed. For Waived, it has the policies, the end and
	// the reason of the waiver.
	Because string
	// Installs is true if Interlock is about to install the add-on, as Because says.
	Installs bool
	// Stopped is true if Interlock does not install the add-on although the edge asks for it. Because has the reason.
	Stopped bool
	// Policies are the AddOnDependencyPolicies that override or waive the edge, in ascending order.
	Policies []string
	// Unexplained is true if the decisions of Placements could not be read.
	Unexplained bool
	// Unwitnessed is true for Held if addon-manager has not seen how long the add-on has been unavailable.
	Unwitnessed bool
	// Installing is the creation time of an add-on that has not reported Available.
	Installing time.Time
	// Removing is the deletion time of an add-on that is being deleted.
	Removing time.Time
	// Unreported is true if no addon-agent reports the API and its fields, or if the hosting cluster does not
	// exist.
	Unreported bool
	// Served is true if the API is served, so that the edge fails only because of its fields.
	Served bool
	// TemplateDue is true while OCM has not chosen the AddOnTemplate of the add-on, which has its version.
	TemplateDue bool
	// Alternatives are the findings on the alternatives of the edge in the declared order, if none is satisfied
	// and none is held.
	Alternatives []Finding
	// HostingCluster is another managed cluster that has to serve the API, because it runs the add-on's agent.
	HostingCluster string
	// Providers are the add-ons that provide the API.
	Providers []string
	// Settings are the variables that the edge requests for its add-on. SettingsUnread is true if they could not be
	// computed yet.
	Settings       []settings.Variable
	SettingsUnread bool
	// SettingOutcome is the result of the requests, if the add-on is installed.
	SettingOutcome settings.Outcome
	// ConditionError is the error of the edge's condition. The edge then applies.
	ConditionError string
}

// Name returns the name of the edge, or of the requirement, such as
// requirements.kubernetes. It is empty if the declaration of the add-on is unknown.
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

// Target returns the name of the add-on, API, requirement or alternatives of the edge, as in messages. It does not
// depend on the dependent.
func (f Finding) Target() string {
	switch {
	case f.Requirement != nil || f.Dependency == nil:
		return f.Name()
	case declaration.HasAlternatives(f.Dependency):
		var names []string
		for _, alternative := range Named(f.Dependency) {
			names = append(names, alternative.Target())
		}
		return joinOr(names)
	case f.Dependency.API != nil:
		return f.apiTarget()
	default:
		return text.Name(declaration.Target(f.Dependency))
	}
}

// Follows reports whether the dependency fails only because one of its own Required dependencies fails. It is not the
// cause then.
func (f Finding) Follows() bool {
	return f.Verdict == NotAvailable && (f.Degraded != nil ||
		f.Available != nil && f.Available.Reason == addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied)
}

// Type returns the type of the edge. A requirement is Required.
func (f Finding) Type() addonv1alpha1.DependencyType {
	if f.Dependency == nil {
		return addonv1alpha1.DependencyTypeRequired
	}
	return f.Dependency.Type
}

// AuthorMessage returns the declared message of the edge.
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

// Docs returns the declared link of the edge.
func (f Finding) Docs() string {
	if f.Dependency == nil {
		return ""
	}
	return f.Dependency.Docs
}

// Unsatisfied reports whether the edge certainly fails.
func (f Finding) Unsatisfied() bool {
	return f.Verdict.Unsatisfied()
}

// KeepsWaiting reports whether an installation or an upgrade waits for the edge, because it fails or because its report is due.
func (f Finding) KeepsWaiting() bool { return f.Unsatisfied() || f.Due }

// Held reports whether the last verdict on the edge is kept.
func (f Finding) Held() bool { return f.Verdict == Held }

// awaitReport holds the verdict until the report of the agent is due.
func (f *Finding) awaitReport(due time.Time) { f.Verdict, f.Until, f.Due = Held, due, true }

// HeldBecause returns the reason for which the verdict is held. It is empty if the state of the cluster shows the reason.
func (f Finding) HeldBecause() string {
	if !f.Held() || f.Detail == nil {
		return ""
	}
	return f.Detail.Because
}

// Blocks reports whether the add-on cannot work while the edge is unsatisfied.
func (f Finding) Blocks() bool { return f.Type() != addonv1alpha1.DependencyTypeOptional }

// detail returns the finding's detail. The first call creates it.
func (f *Finding) detail() *Detail {
	if f.Detail == nil {
		f.Detail = &Detail{}
	}
	return f.Detail
}

// HeldUntil returns the first time at which a finding that is held, tolerated or waived ends
// by itself. It is zero without such a finding.
func HeldUntil(findings []Finding) time.Time {
	var first time.Time
	for _, finding := range findings {
		if !finding.Until.IsZero() && (first.IsZero() || finding.Until.Before(first)) {
			first = finding.Until
		}
	}
	return first
}
