package stock

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// The modules that the rules were read in. The registration controllers are the same in OCM's commit 00f84c3 of
// 2026-08-11, except for the API version that they use.
const (
	ocm            = "open-cluster-management.io/ocm@v1.2.1"
	addonFramework = "open-cluster-management.io/addon-framework@v1.3.0"
)

// ClusterLostReason is the reason of Unknown on a lost cluster and its add-ons.
const ClusterLostReason = "ManagedClusterLeaseUpdateStopped"

const (
	clusterLostMessage = "Registration agent stopped updating its lease."
	required           = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
)

// Rules lists the rules of all writers.
var Rules = []*Rule{
	AddOnLease, ClusterStatus, ClusterLease, ClusterHealth, FeatureDiscovery, HealthCheck,
	Registration, Configuration, Progressing,
}

// AddOnLease polls the leases of add-ons every 30 seconds.
var AddOnLease = &Rule{
	Name: "ManagedClusterAddOnLeaseController", Component: RegistrationAgent,
	Module: ocm, Source: "pkg/registration/spoke/addon/lease_controller.go",
	Cases: []Case{
		{Match: Situation{Mode: ocmv1alpha1.HealthCheckModeCustomized}},
		{Match: Situation{AddOnLease: NoLease}, Write: available(metav1.ConditionUnknown,
			ocmv1alpha1.AddonAvailableReasonLeaseLeaseNotFound, "The status of "+AddOn+" add-on is unknown.")},
		{Match: Situation{AddOnLease: LiveLease}, Write: available(metav1.ConditionTrue,
			ocmv1alpha1.AddonAvailableReasonLeaseLeaseUpdated, AddOn+" add-on is available.")},
		{Match: Situation{AddOnLease: StoppedLease}, Write: available(metav1.ConditionFalse,
			ocmv1alpha1.AddonAvailableReasonLeaseUpdateStopped, AddOn+" add-on is not available.")},
	},
}

// ClusterStatus polls the health of the managed cluster's API server. It is
// healthy here: while it is not, nothing else on the cluster can write either.
var ClusterStatus = &Rule{
	Name: "ManagedClusterStatusController", Component: RegistrationAgent,
	Module: ocm, Source: "pkg/registration/spoke/managedcluster/resource_reconcile.go",
	Cases: []Case{{Write: Write{Cluster: &metav1.Condition{
		Type: "ManagedClusterConditionAvailable", Status: metav1.ConditionTrue, Reason: "ManagedClusterAvailable",
		Message: "Managed cluster is available",
	}}}},
}

// ClusterLease acts at the moment when a cluster's lease expires. That needs no
// event, so it counts as polling.
var ClusterLease = &Rule{
	Name: "ManagedClusterLeaseController", Component: RegistrationHub,
	Module: ocm, Source: "pkg/registration/hub/lease/controller.go",
	Cases: []Case{
		{Match: Situation{Cluster: metav1.ConditionUnknown}},
		{Match: Situation{ClusterLease: StoppedLease}, Write: Write{Cluster: &metav1.Condition{
			Type: "ManagedClusterConditionAvailable", Status: metav1.ConditionUnknown, Reason: ClusterLostReason,
			Message: clusterLostMessage,
		}}},
	},
}

// ClusterHealth sets all add-ons of a lost cluster to Unknown. Only events of the ManagedCluster trigger it,
// including changes of its labels.
var ClusterHealth = &Rule{
	Name: "ManagedClusterAddonHealthCheckController", Component: RegistrationHub,
	Module: ocm, Source: "pkg/registration/hub/addon/healthcheck_controller.go",
	Watches: []Object{Clusters},
	Cases: []Case{
		{Match: Situation{Cluster: metav1.ConditionUnknown}, Write: available(metav1.ConditionUnknown, ClusterLostReason, clusterLostMessage)},
	},
}

// FeatureDiscovery keeps a label of the ManagedCluster for each add-on.
var FeatureDiscovery = &Rule{
	Name: "AddOnFeatureDiscoveryController", Component: RegistrationHub,
	Module: ocm, Source: "pkg/registration/hub/addon/discovery_controller.go",
	Watches: []Object{Clusters, AddOns},
	Cases: []Case{
		{Match: Situation{Available: metav1.ConditionTrue}, Write: Write{Label: "available"}},
		{Match: Situation{Available: metav1.ConditionFalse}, Write: Write{Label: "unhealthy"}},
		{Write: Write{Label: "unreachable"}},
	},
}

// HealthCheck is the prober in the manager of an add-on in Customized mode. For AddOnTemplates, this is OCM's add-on
// manager, otherwise the add-on's own manager.
var HealthCheck = &Rule{
	Name: "healthCheckSyncer", Component: AddOnManager,
	Module: addonFramework, Source: "pkg/addonmanager/controllers/agentdeploy/healthcheck_sync.go",
	Watches: []Object{AddOns},
	Cases: []Case{
		{Match: Situation{Mode: ocmv1alpha1.HealthCheckModeLease}},
		// This branch does not look at the cluster.
		{Match: Situation{Prober: WorkProberWithoutFields}, Write: available(metav1.ConditionTrue,
			ocmv1alpha1.AddonAvailableReasonWorkApply, "Addon manifestWork is applied")},
		{Match: Situation{Work: WorkNeverApplied}},
		{Match: Situation{Cluster: metav1.ConditionUnknown}},
		{Match: Situation{Work: WorkNotFound}, Write: available(metav1.ConditionUnknown,
			ocmv1alpha1.AddonAvailableReasonWorkNotFound, "Addon manifestWork is not found")},
		{Match: Situation{Work: WorkNoStatus}, Write: available(metav1.ConditionUnknown,
			ocmv1alpha1.AddonAvailableReasonWorkNotApply, "Addon manifestWork is not applied yet")},
		{Match: Situation{Work: WorkNotAvailable}, Write: available(metav1.ConditionFalse,
			ocmv1alpha1.AddonAvailableReasonWorkNotApply, "Resources are not available")},
		{Match: Situation{Work: WorkNoFeedback}, Write: available(metav1.ConditionUnknown,
			ocmv1alpha1.AddonAvailableReasonNoProbeResult, "Probe results are not returned")},
		{Match: Situation{Prober: DependentProber, Degraded: required}, Write: unhealthy(required + ": " + AddOn + " lacks a dependency")},
		{Match: Situation{Work: WorkUnhealthy}, Write: unhealthy("desiredNumberReplicas is 1 but readyReplica is 0")},
		{Match: Situation{Work: WorkHealthy}, Write: available(metav1.ConditionTrue,
			ocmv1alpha1.AddonAvailableReasonProbeAvailable, AddOn+" add-on is available.")},
	},
}

func unhealthy(failure string) Write {
	return available(metav1.ConditionFalse, ocmv1alpha1.AddonAvailableReasonProbeUnavailable, "Probe addon unavailable with err "+failure)
}

func available(status metav1.ConditionStatus, reason, message string) Write {
	return Write{Available: &metav1.Condition{
		Type: ocmv1alpha1.ManagedClusterAddOnConditionAvailable, Status: status, Reason: reason, Message: message,
	}}
}
