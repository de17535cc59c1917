package gate

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// ConditionUpgradable is the condition of a ManagedClusterAddOn whose other AddOnTemplates wait for their dependencies. It is
// False while one waits.
const ConditionUpgradable = addonv1alpha1.ManagedClusterAddOnConditionUpgradable

// ReasonNothingWaits is the reason while no AddOnTemplate waits; only ConditionUpgradable has it.
const ReasonNothingWaits = "NothingWaits"

// UpgradeReasons are those of ConditionUpgradable.
var UpgradeReasons = []string{ReasonWaiting, ReasonSatisfied, ReasonOpened, ReasonNothingWaits}

// NothingWaits is the decision on an add-on of which AddOnTemplates will wait from now on.
var NothingWaits = Decision{
	Open, ReasonNothingWaits, "No AddOnTemplate waits. A new one is rolled out here once all that it requires is satisfied.",
}

// Upgrade is an AddOnTemplate that is to replace the one that runs.
type Upgrade struct {
	Template string
	// Version is that of the template; empty: it has none.
	Version string
	// Missing: there is no such template, or not yet. What it will require is not known.
	Missing bool
}

// OrdersUpgrades reports whether other AddOnTemplates of an add-on with that declaration wait.
func OrdersUpgrades(declared declaration.Declaration) bool {
	return !declared.Invalid && declared.Ordering == addonv1alpha1.OrderingInstallAndUpgrade
}

// DecideUpgrade decides on an AddOnTemplate that waits, or is about to: only Wait lets it wait. findings are those of the add-on as
// it would be with that template.
func DecideUpgrade(registered declaration.Declaration, findings []evaluation.Finding, upgrade Upgrade) Decision {
	switch {
	case registered.Invalid:
		return Decision{Step: Stay}
	case !OrdersUpgrades(registered):
		return Decision{Open, ReasonOpened, "The add-on does not declare ordering: InstallAndUpgrade."}
	case upgrade.Missing:
		return Decision{Wait, ReasonWaiting, upgrade.subject() + " waits: it does not exist. Create it, or name another one."}
	}
	return decide(findings, upgrade.subject()+" waits: ", "All that "+upgrade.subject()+" requires is satisfied.")
}

// Opened is the decision on an AddOnTemplate that waited, and that OCM rolls out nevertheless.
func (u Upgrade) Opened() Decision {
	return Decision{Open, ReasonOpened, u.subject() + " is rolled out before all that it requires is satisfied."}
}

// Dropped is the decision on an AddOnTemplate that waited, and is not to be rolled out any more.
func (u Upgrade) Dropped() Decision {
	return Decision{Open, ReasonOpened, u.subject() + " is not to be rolled out any more."}
}

// subject begins each message.
func (u Upgrade) subject() string {
	subject := "AddOnTemplate '" + u.Template + "'"
	if version := strings.TrimSpace(u.Version); version != "" {
		subject += " (version " + text.Excerpt(text.OneLine(version)) + ")"
	}
	return subject
}

// Related is the related object of an add-on that names the AddOnTemplate which waits, or the last one that did. The gate rule reads it
// there: a condition has no field for it, and a write of the status cannot change an annotation.
func Related(template string) ocmv1alpha1.ObjectReference {
	return ocmv1alpha1.ObjectReference{Group: declaration.Templates.Group, Resource: declaration.Templates.Resource, Name: template}
}

// IsRelated reports whether a related object of an add-on is as Related returns it.
func IsRelated(object ocmv1alpha1.ObjectReference) bool { return object == Related(object.Name) }

// WaitingTemplate returns the AddOnTemplate that waits, by the condition Upgradable, which may be nil, and the related objects of the
// add-on; empty: none does.
func WaitingTemplate(upgradable *metav1.Condition, related []ocmv1alpha1.ObjectReference) string {
	at := slices.IndexFunc(related, IsRelated)
	if at < 0 || !Waits(upgradable) {
		return ""
	}
	return related[at].Name
}

// UpgradeCondition returns the condition Upgradable for a decision, as Condition does.
func UpgradeCondition(stored *metav1.Condition, decision Decision, now metav1.Time) (desired metav1.Condition, changed bool) {
	return conditionOf(ConditionUpgradable, stored, decision, now)
}

// Upgrading returns the state in which the add-on is evaluated with another AddOnTemplate, as if it ran. A lost cluster has no add-ons
// in its state.
func Upgrading(state evaluation.State, addOn string, upgrade Upgrade) evaluation.State {
	if !slices.ContainsFunc(state.AddOns, func(one evaluation.Observation) bool { return one.Name == addOn }) {
		return state
	}
	state.AddOns = slices.Clone(state.AddOns)
	state.AddOns.Named(addOn).Template = versions.Templates{Name: upgrade.Template, Running: upgrade.Version}
	return state
}
