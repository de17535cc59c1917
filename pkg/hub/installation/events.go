package installation

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// The reasons of events on installations.
const (
	// EventInstalls: Interlock has a dependency installed. It is on the dependent's ManagedClusterAddOn.
	EventInstalls = "InstallsDependency"
	// EventUnapproved: a change would install an add-on on more managed clusters than Interlock does without an approval. It is on
	// the add-on's ClusterManagementAddOn.
	EventUnapproved = "InstallationUnapproved"
	// EventGivenUp: what Interlock installed was removed again and again. It is on the add-on's ClusterManagementAddOn.
	EventGivenUp = "InstallationGivenUp"
)

const actionInstall = "Install"

// emitted remembers what was said, so that it is said once.
type emitted struct {
	unapproved map[string]int
	givenUp    map[installation.Target]bool
}

// report emits events on what a plan does and does not do, and sets the metrics of what waits.
func (r *Reconciler) report(declared *evaluation.Evaluator, plan installation.Plan, needs []need, clusters int) {
	r.Metrics.Wait(plan)
	by := make(map[installation.Target][]string, len(needs))
	for _, one := range needs {
		by[one.Target] = one.dependents
	}
	for _, target := range plan.Install {
		for _, dependent := range by[target] {
			r.Recorder.Eventf(onCluster(types.NamespacedName{Namespace: target.Cluster, Name: dependent}), nil, corev1.EventTypeNormal,
				EventInstalls, actionInstall, "%s", events.Note(fmt.Sprintf("Add-on '%s' is being installed, because '%s' needs it", target.AddOn, dependent)))
		}
	}
	for _, addOn := range slices.Sorted(maps.Keys(plan.Unapproved)) {
		if count := plan.Unapproved[addOn]; r.emitted.unapproved[addOn] != count {
			r.warn(addOn, EventUnapproved, fmt.Sprintf("Installing '%s' on %d of %s waits for an approval: kubectl annotate --overwrite "+
				"clustermanagementaddon %s %s=%d", addOn, count, text.Count(clusters, "managed cluster"), addOn, addonv1alpha1.ApproveInstallAnnotation, count))
		}
	}
	r.emitted.unapproved = plan.Unapproved
	givenUp := map[installation.Target]bool{}
	for _, target := range plan.GivenUp {
		if givenUp[target] = true; !r.emitted.givenUp[target] {
			r.warn(target.AddOn, EventGivenUp, fmt.Sprintf("'%s' is not installed on managed cluster %s for now, because another writer removed it again and "+
				"again. To keep it from being installed, set spec.install: Deny in an AddOnDependencyPolicy", target.AddOn, target.Cluster))
		}
	}
	r.emitted.givenUp = givenUp
}

func (r *Reconciler) warn(addOn, reason, note string) {
	about := events.About("ClusterManagementAddOn", &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: addOn}})
	r.Recorder.Eventf(about, nil, corev1.EventTypeWarning, reason, actionInstall, "%s", events.Note(note))
}

func onCluster(addOn types.NamespacedName) *corev1.ObjectReference {
	return events.About("ManagedClusterAddOn", &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: addOn.Namespace, Name: addOn.Name}})
}
