package outcome

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/bundle"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
)

// Decision is a write of addon-manager to an add-on.
type Decision struct {
	// Changed has the conditions that differ from the stored conditions, at most one of each type.
	Changed []metav1.Condition
	// HealthCheck is the mode of the add-on's health check. It is empty if Interlock does not own it.
	HealthCheck ocmv1alpha1.HealthCheckMode
	// Open is true if the gate opens after the conditions are stored. Because is the condition Installable with the reason.
	Open    bool
	Because metav1.Condition
	// own is the changed Degraded without the message of another writer. It is nil unless Degraded changes.
	own *metav1.Condition
}

// Empty reports whether there is nothing to write.
func (d Decision) Empty() bool { return len(d.Changed) == 0 && !d.Open }

// OpenedByAnother reports whether a changed condition shows that another writer opened or removed the gate while the
// add-on waited.
func (d Decision) OpenedByAnother(stored Stored, changed metav1.Condition) bool {
	return changed.Type == gate.ConditionInstallable && changed.Reason == gate.ReasonOpened && !d.Open && gate.Waits(stored.Installable)
}

// Condition returns the changed condition of a type, or nil.
func (d Decision) Condition(kind string) *metav1.Condition {
	i := slices.IndexFunc(d.Changed, func(changed metav1.Condition) bool { return changed.Type == kind })
	if i < 0 {
		return nil
	}
	return &d.Changed[i]
}

// OnlyMessages reports whether a write can wait: the gate is closed, and no condition gets another status or reason.
func (d Decision) OnlyMessages(stored Stored) bool {
	return len(d.Changed) > 0 && !d.Open && !slices.ContainsFunc(d.Changed, func(changed metav1.Condition) bool {
		return !gate.OnlyMessage(stored.GateClosed, stored.condition(changed.Type), changed)
	})
}

// Postpone removes the conditions that another writer has just overwritten, until the time that notBefore returns for
// each. The second result is the first of these times. It is zero if there is nothing to wait for. A gate does not open
// before its condition is written. ReplacedDegraded is not written before the Degraded that replaces it.
func (d Decision) Postpone(notBefore func(metav1.Condition) time.Time) (Decision, time.Time) {
	var first time.Time
	waits := func(desired metav1.Condition) bool {
		moment := notBefore(d.Own(desired))
		if !moment.IsZero() && (first.IsZero() || moment.Before(first)) {
			first = moment
		}
		return !moment.IsZero()
	}
	remaining := d
	remaining.Changed = slices.DeleteFunc(slices.Clone(d.Changed), waits)
	if d.own != nil && remaining.Condition(d.own.Type) == nil {
		remaining.Changed = slices.DeleteFunc(remaining.Changed, func(changed metav1.Condition) bool {
			return changed.Type == addonv1alpha1.ManagedClusterAddOnConditionReplacedDegraded
		})
	}
	remaining.Open = d.Open && !waits(d.Because)
	return remaining, first
}

// Own returns a changed condition without the message of another writer.
func (d Decision) Own(changed metav1.Condition) metav1.Condition {
	if d.own != nil && changed.Type == d.own.Type {
		return *d.own
	}
	return changed
}

// Conditions returns all conditions of the add-on that addon-manager owns, changed or stored, as a whole or in part. Server-side
// apply removes the fields that their owner leaves out. The rest of a condition without them would be invalid, or the condition
// of another writer would be lost. Without a gate, the add-on's own manager owns Installable.
func (d Decision) Conditions(stored Stored) []metav1.Condition {
	conditions := slices.Clone(d.Changed)
	keep := func(current *metav1.Condition, owned bool) {
		if current != nil && owned && d.Condition(current.Type) == nil {
			conditions = append(conditions, *current)
		}
	}
	keep(stored.Degraded, stored.OwnsDegraded || condition.Owned(stored.Degraded))
	keep(stored.Replaced, stored.OwnsReplaced || stored.Replaced != nil && stored.Replaced.Status == metav1.ConditionTrue)
	keep(stored.Installable, stored.Annotated || stored.OwnsInstallable)
	keep(stored.Upgradable, true)
	fails := stored.Available != nil && stored.Available.Reason == availability.ReasonRequiredDependencyNotSatisfied
	keep(stored.Available, stored.OwnsAvailable || bundle.Owned(stored.Available) || d.HealthCheck == ocmv1alpha1.HealthCheckModeCustomized && fails)
	return conditions
}

// condition returns the stored condition of a type, or nil.
func (s Stored) condition(kind string) *metav1.Condition {
	switch kind {
	case addonv1alpha1.ManagedClusterAddOnConditionDegraded:
		return s.Degraded
	case addonv1alpha1.ManagedClusterAddOnConditionReplacedDegraded:
		return s.Replaced
	case addonv1alpha1.ManagedClusterAddOnConditionInstallable:
		return s.Installable
	case addonv1alpha1.ManagedClusterAddOnConditionUpgradable:
		return s.Upgradable
	case addonv1alpha1.ManagedClusterAddOnConditionAvailable:
		return s.Available
	}
	return nil
}
