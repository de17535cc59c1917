package ondemand

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/kube/events"
)

// The reasons of events on installations.
const (
	// EventInstalls is emitted when Interlock installs a dependency. It is on the dependent's ManagedClusterAddOn.
	EventInstalls = "InstallsDependency"
	// EventRemoves is emitted when Interlock removes an add-on that it installed, because no add-on needs it any more. It
	// is on the removed ManagedClusterAddOn.
	EventRemoves = "RemovesDependency"
	// EventGivenUp is emitted when an add-on that Interlock installed was removed again and again. It is on its
	// ClusterManagementAddOn.
	EventGivenUp = "InstallationGivenUp"
)

// The actions of events.
const (
	actionInstall = "Install"
	actionRemove  = "Remove"
)

// emitInstalls emits an event on each dependent.
func (r *Reconciler) emitInstalls(s *subject) {
	for _, dependent := range s.dependents {
		// Without the other add-on, events on several of them would be counted as one event.
		r.Recorder.Eventf(onCluster(dependent), onCluster(s.key), corev1.EventTypeNormal, EventInstalls, actionInstall, "%s",
			events.Note(fmt.Sprintf("Add-on '%s' is being installed, because '%s' needs it", s.key.Name, dependent.Name)))
	}
}

// emitRemoves emits an event on the add-on.
func (r *Reconciler) emitRemoves(s *subject) {
	r.Recorder.Eventf(onCluster(s.key), nil, corev1.EventTypeNormal, EventRemoves, actionRemove, "%s",
		events.Note(fmt.Sprintf("Add-on '%s' is being removed, because no other add-on needs it any more", s.key.Name)))
}

// emitGivenUp emits an event on the registration of an add-on whose installation a decision gives up.
func (r *Reconciler) emitGivenUp(s *subject, decision installation.Decision) {
	if decision.Desired == nil || decision.Desired.Phase != dependencyv1alpha1.PhaseGivenUp ||
		s.Stored != nil && s.Stored.Phase == dependencyv1alpha1.PhaseGivenUp {
		return
	}
	registration := events.About(events.ClusterManagementAddOn,
		&addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: s.key.Name}})
	r.Recorder.Eventf(registration, onCluster(s.key), corev1.EventTypeWarning, EventGivenUp, actionInstall, "%s",
		events.Note(fmt.Sprintf("'%s' is not installed on managed cluster %s for now, because another writer removed it again and again. "+
			"To keep it from being installed, set spec.install: Deny in an AddOnDependencyPolicy", s.key.Name, s.key.Namespace)))
}

func onCluster(addOn types.NamespacedName) *corev1.ObjectReference {
	return events.About(events.ManagedClusterAddOn, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: addOn.Namespace, Name: addOn.Name}})
}
