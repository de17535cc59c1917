package outcome

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"

	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/bundle"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// Stored is the stored state of an add-on on a managed cluster that decisions depend on.
type Stored struct {
	// The conditions are nil if they do not exist.
	Degraded, Replaced, Available, Installable, Upgradable *metav1.Condition
	// OwnsAvailable is true if addon-manager has applied Available: the add-on is or was a bundle.
	OwnsAvailable bool
	// OwnsDegraded and OwnsReplaced are true if addon-manager has applied a condition that another writer has changed since, and
	// still owns some of its fields.
	OwnsDegraded, OwnsReplaced bool
	// OwnsInstallable is true if addon-manager has applied Installable, and the annotation of the gate was removed.
	OwnsInstallable bool
	// HealthCheck is the mode of the health check that addon-manager has applied, or empty.
	HealthCheck ocmv1alpha1.HealthCheckMode
	// Gate is the value of the gate's annotation. Annotated is false without that annotation.
	Gate      string
	Annotated bool
	// GateClosed is true while the gate is closed and OCM has not begun to install the add-on.
	GateClosed bool
	// Running is the running AddOnTemplate. Waiting is another template that waits for its dependencies.
	Running, Waiting string
	// Deleted is true while the add-on is being deleted.
	Deleted bool
}

// Decide decides on all conditions of an add-on. A condition whose status changes gets now as the time of its transition.
func Decide(assessment Assessment, stored Stored, now metav1.Time) Decision {
	var decision Decision
	degraded := stored.Degraded
	desired := condition.Decide(condition.Stored{Degraded: stored.Degraded, Replaced: stored.Replaced}, assessment.Findings, now)
	if desired.Degraded != nil {
		decision.own = &desired.Own
		decision.Changed = append(decision.Changed, *desired.Degraded)
		degraded = desired.Degraded
	}
	if desired.Replaced != nil {
		decision.Changed = append(decision.Changed, *desired.Replaced)
	}
	decision.HealthCheck = stored.HealthCheck
	if !assessment.Acts {
		return decision
	}
	decision.HealthCheck = healthCheck(assessment, stored)
	if stored.Deleted {
		return decision
	}
	decision.decideInstallation(assessment, stored, now)
	if desired, changed := gate.UpgradeCondition(stored.Upgradable, decideUpgrade(assessment, stored), now); changed {
		decision.Changed = append(decision.Changed, desired)
	}
	available := bundle.Decide(bundle.Input{
		Bundle:   assessment.Bundle,
		Former:   isFormer(assessment, stored),
		Lost:     assessment.Lost,
		Findings: assessment.Findings,
		Stored:   stored.Available,
		Degraded: degraded,
		Now:      now,
	})
	if available.Write {
		decision.Changed, decision.HealthCheck = append(decision.Changed, available.Condition), available.Mode
	}
	return decision
}

// healthCheck returns the mode of the health check if Interlock owns it. Otherwise it is empty.
func healthCheck(assessment Assessment, stored Stored) ocmv1alpha1.HealthCheckMode {
	switch {
	case assessment.Bundle:
		return ocmv1alpha1.HealthCheckModeCustomized
	case stored.HealthCheck == "" && bundle.Owned(stored.Available):
		return ocmv1alpha1.HealthCheckModeLease
	}
	return stored.HealthCheck
}

// isFormer reports whether the add-on was a bundle, and OCM's agent still leaves its health to addon-manager.
func isFormer(assessment Assessment, stored Stored) bool {
	return !assessment.Bundle && stored.HealthCheck == ocmv1alpha1.HealthCheckModeCustomized
}

// decideInstallation decides on Installable and on the opening of the gate.
func (d *Decision) decideInstallation(assessment Assessment, stored Stored, now metav1.Time) {
	decision := decideGate(assessment, stored)
	desired, changed := gate.Condition(stored.Installable, decision, now)
	if changed {
		d.Changed = append(d.Changed, desired)
	}
	d.Open, d.Because = decision.Step == gate.Open && stored.GateClosed, desired
}

func decideGate(assessment Assessment, stored Stored) gate.Decision {
	switch {
	case gate.Waits(stored.Installable) && !stored.GateClosed:
		return gate.Ungated(stored.Gate, stored.Annotated)
	case lacksInstallable(assessment.Registered, stored):
		return gate.ConditionRemoved
	case !stored.GateClosed || assessment.Installing == nil:
		return gate.Decision{}
	}
	order := gate.Decide(assessment.Registered, assessment.Installing.Findings)
	if assessment.Installing.Missing != "" {
		order = gate.Missing(assessment.Installing.Missing, order)
	}
	if review := assessment.Installing.Contradiction; review != nil {
		return gate.DecideContradiction(review.Message, review.Reviewed, order)
	}
	return order
}

// decideUpgrade decides on the AddOnTemplate that waits. Without such a template, an add-on gets the condition once,
// before its first upgrade.
func decideUpgrade(assessment Assessment, stored Stored) gate.Decision {
	upgrading := assessment.Upgrading
	switch {
	case lacksUpgradable(assessment.Registered, stored), forgetsTemplate(stored):
		return gate.NothingWaits
	case upgrading == nil || upgrading.Template != stored.Waiting:
		return gate.Decision{}
	case upgrading.RolledOut:
		return upgrading.Opened()
	case upgrading.Dropped:
		return upgrading.Upgrade.Dropped()
	}
	return gate.DecideUpgrade(assessment.Registered, upgrading.Findings, upgrading.Upgrade)
}

// LacksCondition reports whether an ordered add-on has no Installable although its gate is open, or no Upgradable, or one that waits for no
// AddOnTemplate. Another writer may have removed them.
func LacksCondition(registered declaration.Declaration, stored Stored) bool {
	return lacksInstallable(registered, stored) || lacksUpgradable(registered, stored) || forgetsTemplate(stored)
}

// forgetsTemplate reports whether an AddOnTemplate waits by the condition, but another writer has removed its name from the related
// objects. Nothing keeps it from being rolled out then.
func forgetsTemplate(stored Stored) bool {
	return gate.Waits(stored.Upgradable) && stored.Waiting == ""
}

func lacksInstallable(registered declaration.Declaration, stored Stored) bool {
	return stored.Installable == nil && gate.Ordered(registered) && stored.Gate == addonv1alpha1.GateOpen
}

// lacksUpgradable reports whether an add-on lacks the condition Upgradable although its upgrades are ordered. Before the add-on is
// installed, its gate decides.
func lacksUpgradable(registered declaration.Declaration, stored Stored) bool {
	return stored.Upgradable == nil && gate.OrdersUpgrades(registered) && stored.Running != ""
}
