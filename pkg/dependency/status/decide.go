package status

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/bundle"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
)

// Stored is what is stored of an add-on on a managed cluster, as far as decisions rest on it.
type Stored struct {
	// The conditions; nil: there is none.
	Degraded, Available, Installable, Upgradable *metav1.Condition
	// Gate is the value of the annotation of the gate, if Annotated.
	Gate      string
	Annotated bool
	// GateClosed: the gate is closed, and OCM has not begun to install the add-on.
	GateClosed bool
	// Running is the AddOnTemplate that runs, and Waiting the one that waits; empty: there is none.
	Running, Waiting string
	// Deleted: the add-on is being deleted.
	Deleted bool
}

// Decision is what is to be written.
type Decision struct {
	// Changed are the conditions that differ from what is stored, each type at most once.
	Changed []metav1.Condition
	// HealthCheck is which component checks the health of the add-on; empty: that is not Interlock's.
	HealthCheck ocmv1alpha1.HealthCheckMode
	// Open: the gate is to be opened, once the conditions are stored. Because is the condition Installable that says why.
	Open    bool
	Because metav1.Condition
}

// Decide decides on all conditions of an add-on. now becomes the time of the transition where a status changes.
func Decide(found Assessment, stored Stored, now metav1.Time) Decision {
	var decided Decision
	degraded := stored.Degraded
	if desired, changed := condition.Decide(stored.Degraded, found.Findings, now); changed {
		decided.Changed = append(decided.Changed, desired)
		degraded = &desired
	}
	if !found.Acts {
		return decided
	}
	decided.keepHealthCheck(found, stored)
	if stored.Deleted {
		return decided
	}
	decided.installation(found, stored, now)
	if desired, changed := gate.UpgradeCondition(stored.Upgradable, upgrade(found, stored), now); changed {
		decided.Changed = append(decided.Changed, desired)
	}
	available := bundle.Decide(bundle.Input{
		Bundle: found.Bundle, Lost: found.Lost, Findings: found.Findings, Stored: stored.Available, Degraded: degraded, Now: now,
	})
	if available.Write {
		decided.Changed, decided.HealthCheck = append(decided.Changed, available.Condition), available.Mode
	}
	return decided
}

// keepHealthCheck keeps the mode of the health check where Interlock has set it, or is about to.
func (d *Decision) keepHealthCheck(found Assessment, stored Stored) {
	switch {
	case found.Bundle:
		d.HealthCheck = ocmv1alpha1.HealthCheckModeCustomized
	case bundle.Owned(stored.Available):
		d.HealthCheck = ocmv1alpha1.HealthCheckModeLease
	}
}

// installation decides on Installable, and whether the gate opens.
func (d *Decision) installation(found Assessment, stored Stored, now metav1.Time) {
	decision := install(found, stored)
	desired, changed := gate.Condition(stored.Installable, decision, now)
	if changed {
		d.Changed = append(d.Changed, desired)
	}
	d.Open, d.Because = decision.Step == gate.Open && stored.GateClosed, desired
}

// install decides on a gate.
func install(found Assessment, stored Stored) gate.Decision {
	switch {
	case gate.Waits(stored.Installable) && !stored.GateClosed:
		return gate.Ungated(stored.Gate, stored.Annotated)
	case !stored.GateClosed || found.Installing == nil:
		return gate.Decision{}
	}
	order := gate.Decide(found.Registered, found.Installing.Findings)
	if found.Installing.Missing != "" {
		order = gate.Missing(found.Installing.Missing, order)
	}
	if contradicts := found.Installing.Contradiction; contradicts != nil {
		return gate.DecideContradiction(contradicts.Message, contradicts.Known, order)
	}
	return order
}

// upgrade decides on the AddOnTemplate that waits. Where none does, and others will have to, the add-on is marked once.
func upgrade(found Assessment, stored Stored) gate.Decision {
	upgrading := found.Upgrading
	switch {
	case ToMark(found.Registered, stored):
		return gate.NothingWaits
	case upgrading == nil || upgrading.Template != stored.Waiting:
		return gate.Decision{}
	case upgrading.RolledOut:
		return upgrading.Opened()
	case upgrading.Dropped:
		return upgrading.Upgrade.Dropped()
	}
	return gate.DecideUpgrade(found.Registered, upgrading.Findings, upgrading.Upgrade)
}

// ToMark reports whether other AddOnTemplates of an add-on with that declaration will have to wait, and it has no condition that says so.
// Before it is installed, its gate decides.
func ToMark(registered declaration.Declaration, stored Stored) bool {
	return stored.Upgradable == nil && gate.OrdersUpgrades(registered) && stored.Running != ""
}

// Empty reports whether nothing is to be written.
func (d Decision) Empty() bool { return len(d.Changed) == 0 && !d.Open }

// Condition returns the condition of that type that is to be written, or nil.
func (d Decision) Condition(kind string) *metav1.Condition {
	at := slices.IndexFunc(d.Changed, func(one metav1.Condition) bool { return one.Type == kind })
	if at < 0 {
		return nil
	}
	return &d.Changed[at]
}

// OnlyMessages reports whether a write can wait: while the gate is closed, conditions that say the same in other words.
func (d Decision) OnlyMessages(stored Stored) bool {
	return len(d.Changed) > 0 && !d.Open && !slices.ContainsFunc(d.Changed, func(one metav1.Condition) bool {
		return !gate.OnlyMessage(stored.GateClosed, stored.of(one.Type), one)
	})
}

// Postpone leaves out what has to wait, because another writer has just overwritten it, and returns the first moment at which one no
// longer has to; zero: nothing waits. until is that moment of a condition. A gate does not open before its condition is written.
func (d Decision) Postpone(until func(metav1.Condition) time.Time) (left Decision, first time.Time) {
	waits := func(one metav1.Condition) bool {
		moment := until(one)
		if !moment.IsZero() && (first.IsZero() || moment.Before(first)) {
			first = moment
		}
		return !moment.IsZero()
	}
	left = d
	left.Changed = slices.DeleteFunc(slices.Clone(d.Changed), waits)
	left.Open = d.Open && !waits(d.Because)
	return left, first
}

// Conditions are all of Interlock's on the add-on, changed or as they are stored: a writer that applies some of them takes the others
// back. Without a gate, Installable is that of the add-on itself.
func (d Decision) Conditions(stored Stored) []metav1.Condition {
	all := slices.Clone(d.Changed)
	keep := func(one *metav1.Condition, ours bool) {
		if one != nil && ours && d.Condition(one.Type) == nil {
			all = append(all, *one)
		}
	}
	keep(stored.Degraded, condition.Owned(stored.Degraded))
	keep(stored.Installable, stored.Annotated)
	keep(stored.Upgradable, true)
	fails := stored.Available != nil && stored.Available.Reason == availability.ReasonRequiredDependencyNotSatisfied
	keep(stored.Available, bundle.Owned(stored.Available) || d.HealthCheck == ocmv1alpha1.HealthCheckModeCustomized && fails)
	return all
}

// of returns the condition of that type, or nil.
func (s Stored) of(kind string) *metav1.Condition {
	switch kind {
	case addonv1alpha1.ManagedClusterAddOnConditionDegraded:
		return s.Degraded
	case addonv1alpha1.ManagedClusterAddOnConditionInstallable:
		return s.Installable
	case addonv1alpha1.ManagedClusterAddOnConditionUpgradable:
		return s.Upgradable
	case addonv1alpha1.ManagedClusterAddOnConditionAvailable:
		return s.Available
	}
	return nil
}
