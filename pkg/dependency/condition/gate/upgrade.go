package gate

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// ConditionUpgradable is the condition of a ManagedClusterAddOn whose new AddOnTemplates wait for their dependencies. It
// is False while a template waits.
const ConditionUpgradable = addonv1alpha1.ManagedClusterAddOnConditionUpgradable

// ReasonNothingWaits is the reason while no AddOnTemplate waits. Only ConditionUpgradable has it.
const ReasonNothingWaits = "NothingWaits"

// UpgradeReasons lists the reasons of ConditionUpgradable.
var UpgradeReasons = []string{ReasonWaiting, ReasonSatisfied, ReasonOpened, ReasonNothingWaits}

// NothingWaits is the decision on an add-on whose AddOnTemplates wait from now on.
var NothingWaits = Decision{
	Open, ReasonNothingWaits, "No AddOnTemplate waits. A new one is rolled out here once all that it requires is satisfied.",
}

// Upgrade is an AddOnTemplate that is to replace the running template.
type Upgrade struct {
	Template string
	// Version is the version of the template, or empty.
	Version string
	// Missing is true if the template does not exist, or not yet. Its dependencies are unknown.
	Missing bool
}

// OrdersUpgrades reports whether new AddOnTemplates of an add-on with this declaration wait.
func OrdersUpgrades(d declaration.Declaration) bool {
	return !d.Invalid && d.Ordering == addonv1alpha1.OrderingInstallAndUpgrade
}

// DecideUpgrade decides on an AddOnTemplate that waits, or is about to wait. Only Wait lets it wait. findings are the
// findings on the add-on with that template.
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

// Opened returns the decision on an AddOnTemplate that waited, and that OCM nevertheless rolls out.
func (u Upgrade) Opened() Decision {
	return Decision{Open, ReasonOpened, u.subject() + " is rolled out before all that it requires is satisfied."}
}

// Dropped returns the decision on an AddOnTemplate that waited, and is no longer to be rolled out.
func (u Upgrade) Dropped() Decision {
	return Decision{Open, ReasonOpened, u.subject() + " is not to be rolled out any more."}
}

// subject returns the beginning of each message.
func (u Upgrade) subject() string {
	subject := "AddOnTemplate '" + u.Template + "'"
	if version := strings.TrimSpace(u.Version); version != "" {
		subject += " (version " + text.Excerpt(text.OneLine(version)) + ")"
	}
	return subject
}

// Related returns the related object of an add-on for the AddOnTemplate that waits, or that waited last. The gate rule
// reads it there, because a condition has no field for it, and a write of the status cannot change an annotation.
func Related(template string) ocmv1alpha1.ObjectReference {
	return ocmv1alpha1.ObjectReference{Group: declaration.Templates.Group, Resource: declaration.Templates.Resource, Name: template}
}

// IsRelated reports whether a related object of an add-on has the form of Related.
func IsRelated(object ocmv1alpha1.ObjectReference) bool { return object == Related(object.Name) }

// WaitingTemplate returns the AddOnTemplate that waits, by the condition Upgradable, which may be nil, and the related
// objects of the add-on. It is empty if no template waits.
func WaitingTemplate(upgradable *metav1.Condition, related []ocmv1alpha1.ObjectReference) string {
	i := slices.IndexFunc(related, IsRelated)
	if i < 0 || !Waits(upgradable) {
		return ""
	}
	return related[i].Name
}

// UpgradeCondition returns the condition Upgradable for a decision, like Condition.
func UpgradeCondition(stored *metav1.Condition, decision Decision, now metav1.Time) (metav1.Condition, bool) {
	return conditionOf(ConditionUpgradable, stored, decision, now)
}

// Upgrading returns the state in which the add-on is evaluated with another AddOnTemplate, as if the template ran. The
// state of a lost cluster has no add-ons.
func Upgrading(state evaluation.State, addOn string, upgrade Upgrade) evaluation.State {
	if !slices.ContainsFunc(state.AddOns, func(observation evaluation.Observation) bool { return observation.Name == addOn }) {
		return state
	}
	state.AddOns = slices.Clone(state.AddOns)
	state.AddOns.Named(addOn).Template = versions.Templates{Name: upgrade.Template, Running: upgrade.Version}
	return state
}
