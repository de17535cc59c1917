package nextstep

import (
	"cmp"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// notAvailable returns the next step for an add-on whose own agent does not work. The agent has
// to be repaired on its cluster, which the plugin cannot access. So the step has a note that names
// the cluster and namespace. There is no agent yet if OCM waits for the add-on's configuration.
func notAvailable(fleetState *snapshot.Snapshot, addOn, cluster string) Step {
	next := Step{Run: fmt.Sprintf(describe, addOn, cluster)}
	installed := fleetState.AddOnOn(types.NamespacedName{Namespace: cluster, Name: addOn})
	if installed == nil {
		return next
	}
	if awaited := report.AwaitedConfig(installed); awaited != "" {
		next.Note = awaited
		if fleet.RefersToSettings(installed) {
			next.Run = fmt.Sprintf(unsetSettings, cluster)
		}
		return next
	}
	host := cmp.Or(installed.Annotations[ocmv1alpha1.HostingClusterNameAnnotationKey], cluster)
	namespace := availability.InstallNamespace(installed)
	if len(validation.IsDNS1123Subdomain(host))+len(validation.IsDNS1123Label(namespace)) > 0 {
		return next
	}
	next.Note = fmt.Sprintf("repair its agent on %s, in namespace %s: %s. The command only shows more",
		host, namespace, finding(addOn, fleet.Available(installed)))
	return next
}

// removing returns the next step about an add-on that is being removed. Nothing is to be repaired there, and it cannot be installed again
// before it is gone.
func removing(fleetState *snapshot.Snapshot, addOn, cluster string) Step {
	next := Step{Run: fmt.Sprintf(describe, addOn, cluster)}
	installed := fleetState.AddOnOn(types.NamespacedName{Namespace: cluster, Name: addOn})
	deletion := report.DeletionOf(installed)
	if deletion == nil {
		return next
	}
	next.Note = fmt.Sprintf("%s on %s is %s", addOn, text.Name(cluster), deletion)
	if slices.Contains(installed.Finalizers, addonv1alpha1.WaitForDependentsFinalizer) {
		next.Note += ". Interlock removes its finalizer once the add-ons that require it and are being removed too are gone, " +
			"after 10 minutes at the latest"
	} else if len(installed.Finalizers) > 0 {
		next.Note += ". The component that set it has to remove it"
	}
	next.Note += ". Install it again once it is gone, or remove what requires it"
	return next
}

// finding returns the text about an add-on's agent according to its condition Available.
func finding(addOn string, available *metav1.Condition) string {
	switch {
	case available == nil:
		return "it has not reported yet"
	case available.Reason == availability.ReasonLeaseStopped && !available.LastTransitionTime.IsZero():
		renewed := available.LastTransitionTime.Add(-availability.DefaultGracePeriod)
		return fmt.Sprintf("it last renewed its lease %s at about %s", addOn, renewed.UTC().Format("2006-01-02 15:04 MST"))
	case available.Reason == availability.ReasonLeaseStopped:
		return fmt.Sprintf("it does not renew its lease %s", addOn)
	case available.Reason == availability.ReasonLeaseNotFound:
		return fmt.Sprintf("it has not made its lease %s, so it has not started", addOn)
	default:
		return "its health check fails"
	}
}
