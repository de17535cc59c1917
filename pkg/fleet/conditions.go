package fleet

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
)

// InstalledByInterlock reports whether Interlock has created the add-on.
func InstalledByInterlock(addOn metav1.Object) bool {
	return addOn.GetLabels()[addonv1alpha1.InstalledByLabel] == addonv1alpha1.InstalledByInterlock
}

// Available returns the add-on's condition of that type, or nil.
func Available(addOn *addonv1alpha1.ManagedClusterAddOn) *metav1.Condition {
	return meta.FindStatusCondition(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionAvailable)
}

// Degraded returns the add-on's condition of that type, or nil.
func Degraded(addOn *addonv1alpha1.ManagedClusterAddOn) *metav1.Condition {
	return meta.FindStatusCondition(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionDegraded)
}

// ReplacedDegraded returns the add-on's condition of that type, or nil.
func ReplacedDegraded(addOn *addonv1alpha1.ManagedClusterAddOn) *metav1.Condition {
	return meta.FindStatusCondition(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionReplacedDegraded)
}

// Installable returns the add-on's condition of that type, or nil. A cached add-on has it only with a gate.
func Installable(addOn *addonv1alpha1.ManagedClusterAddOn) *metav1.Condition {
	return meta.FindStatusCondition(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionInstallable)
}

// Upgradable returns the add-on's condition of that type, or nil.
func Upgradable(addOn *addonv1alpha1.ManagedClusterAddOn) *metav1.Condition {
	return meta.FindStatusCondition(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionUpgradable)
}

// WaitingTemplate returns the AddOnTemplate that waits for its dependencies while another one runs. It is empty if none waits.
func WaitingTemplate(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	if !addOn.DeletionTimestamp.IsZero() {
		return ""
	}
	return gate.WaitingTemplate(Upgradable(addOn), addOn.Status.RelatedObjects)
}

// GateClosed reports whether a closed gate keeps OCM from installing the add-on. A gate has no effect once the installation
// has begun, or on an add-on that is being deleted. A cached add-on has the fields for this.
func GateClosed(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return addOn.Annotations[addonv1alpha1.GateAnnotation] == addonv1alpha1.GateClosed && addOn.DeletionTimestamp.IsZero() &&
		meta.FindStatusCondition(addOn.Status.Conditions, ocmv1alpha1.ManagedClusterAddOnRegistrationApplied) == nil
}

// HeldForContradiction reports whether the gate of an add-on is closed because it contradicts add-ons that are installed on its
// cluster. There is no other cause, so a misspelled one does not open the gate. A cached add-on has the fields for this.
func HeldForContradiction(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return GateClosed(addOn) && addOn.Annotations[addonv1alpha1.GateCauseAnnotation] != ""
}

// Stored returns the stored state of an add-on that decisions on its conditions use. A cached add-on has the fields for this.
func Stored(addOn *addonv1alpha1.ManagedClusterAddOn) outcome.Stored {
	value, annotated := addOn.Annotations[addonv1alpha1.GateAnnotation]
	return outcome.Stored{
		Degraded: Degraded(addOn), Replaced: ReplacedDegraded(addOn),
		Available: Available(addOn), Installable: Installable(addOn), Upgradable: Upgradable(addOn),
		OwnsAvailable: appliedField(addOn.ManagedFields, availableField), HealthCheck: appliedMode(addOn),
		OwnsDegraded:    !condition.Owned(Degraded(addOn)) && appliedField(addOn.ManagedFields, degradedField),
		OwnsReplaced:    !isTrue(ReplacedDegraded(addOn)) && appliedField(addOn.ManagedFields, replacedField),
		OwnsInstallable: !annotated && AppliedInstallable(addOn.ManagedFields),
		Gate:            value, Annotated: annotated, GateClosed: GateClosed(addOn),
		Running: TemplatesOf(addOn).Running, Waiting: WaitingTemplate(addOn), Deleted: !addOn.DeletionTimestamp.IsZero(),
	}
}

func isTrue(current *metav1.Condition) bool {
	return current != nil && current.Status == metav1.ConditionTrue
}

// AppliedInstallable reports whether addon-manager has applied the condition Installable, by the managed fields of an
// add-on.
func AppliedInstallable(entries []metav1.ManagedFieldsEntry) bool {
	return appliedField(entries, installableField)
}

// appliedField reports whether addon-manager has applied a field, by the managed fields of an add-on.
func appliedField(entries []metav1.ManagedFieldsEntry, field string) bool {
	return slices.ContainsFunc(entries, func(entry metav1.ManagedFieldsEntry) bool { return owns(&entry, field) })
}

// appliedMode returns the mode of the health check that addon-manager has applied, or an empty mode.
func appliedMode(addOn *addonv1alpha1.ManagedClusterAddOn) ocmv1alpha1.HealthCheckMode {
	if !appliedField(addOn.ManagedFields, healthCheckField) {
		return ""
	}
	return addOn.Status.HealthCheck.Mode
}

// ClusterStatus returns the status of a ManagedCluster's Available, or empty.
func ClusterStatus(cluster *clusterv1.ManagedCluster) metav1.ConditionStatus {
	if condition := clusterAvailable(cluster); condition != nil {
		return condition.Status
	}
	return ""
}

// returned returns when a ManagedCluster, which may be nil, became reachable again, by the clock of its own agent. It is zero if
// the time is unknown.
func returned(cluster *clusterv1.ManagedCluster) time.Time {
	if cluster == nil {
		return time.Time{}
	}
	if condition := clusterAvailable(cluster); condition != nil && condition.Status != metav1.ConditionUnknown {
		return condition.LastTransitionTime.UTC()
	}
	return time.Time{}
}

func clusterAvailable(cluster *clusterv1.ManagedCluster) *metav1.Condition {
	return meta.FindStatusCondition(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable)
}
