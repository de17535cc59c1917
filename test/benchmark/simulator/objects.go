package simulator

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	stockv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

const addOnNamespace = "open-cluster-management-agent-addon"

// installedAddOn returns an add-on in the state that OCM's controllers leave on a hub.
func installedAddOn(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster, Name: name,
		Labels: map[string]string{
			"addon.open-cluster-management.io/hosted-manifest-location": "none",
			"velero.io/exclude-from-backup":                             "true",
		},
		Annotations: map[string]string{
			"addon.open-cluster-management.io/values": `{"global":{"imagePullPolicy":"IfNotPresent","nodeSelector":{"node-role.kubernetes.io/infra":""}}}`,
		},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: addonv1alpha1.GroupVersion.String(), Kind: "ClusterManagementAddOn", Name: name,
			UID: "7f0c6fdc-0000-4000-8000-8f4a1c6c1f11", Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
		}},
		Finalizers: nil, // no controller here would remove them
	}}
	addOn.Spec.InstallNamespace = addOnNamespace //nolint:staticcheck // deprecated, but OCM sets it
	config := stockv1alpha1.ConfigGroupResource{Group: "addon.open-cluster-management.io", Resource: "addondeploymentconfigs"}
	referent := stockv1alpha1.ConfigReferent{Namespace: "open-cluster-management", Name: name + "-config"}
	addOn.Spec.Configs = []stockv1alpha1.AddOnConfig{{ConfigGroupResource: config, ConfigReferent: referent}}
	addOn.Status = stockv1alpha1.ManagedClusterAddOnStatus{
		Namespace:   addOnNamespace,
		HealthCheck: stockv1alpha1.HealthCheck{Mode: stockv1alpha1.HealthCheckModeLease},
		AddOnMeta:   stockv1alpha1.AddOnMeta{DisplayName: name, Description: "The agent of " + name + " on the managed cluster."},
		RelatedObjects: []stockv1alpha1.ObjectReference{
			{Group: "addon.open-cluster-management.io", Resource: "clustermanagementaddons", Name: name},
			{Group: "work.open-cluster-management.io", Resource: "manifestworks", Namespace: cluster, Name: "addon-" + name + "-deploy-0"},
		},
		Registrations: []stockv1alpha1.RegistrationConfig{{
			SignerName: "kubernetes.io/kube-apiserver-client",
			Subject: stockv1alpha1.Subject{
				User: "system:open-cluster-management:cluster:" + cluster + ":addon:" + name + ":agent:" + name + "-agent",
				Groups: []string{
					"system:open-cluster-management:cluster:" + cluster + ":addon:" + name,
					"system:open-cluster-management:addon:" + name, "system:authenticated",
				},
			},
		}},
		SupportedConfigs: []stockv1alpha1.ConfigGroupResource{config},
		ConfigReferences: []stockv1alpha1.ConfigReference{{
			ConfigGroupResource: config,
			ConfigReferent:      referent,
			DesiredConfig:       &stockv1alpha1.ConfigSpecHash{ConfigReferent: referent, SpecHash: "94e2f15f9c1ce24a0c1c1a3a5cb0ed6e0a3d1f3a0a1bd4b8d1a1a6a7e9d0c1b2"},
			LastAppliedConfig:   &stockv1alpha1.ConfigSpecHash{ConfigReferent: referent, SpecHash: "94e2f15f9c1ce24a0c1c1a3a5cb0ed6e0a3d1f3a0a1bd4b8d1a1a6a7e9d0c1b2"},
		}},
		Conditions: conditions(name, metav1.ConditionTrue, joinTime, "completed with no errors."),
	}
	return addOn
}

// joinTime is the time since when add-ons without a report are available.
var joinTime = metav1.Now()

// conditions returns all conditions that stock OCM keeps on an add-on.
func conditions(addOn string, available metav1.ConditionStatus, since metav1.Time, progress string) []metav1.Condition {
	now := metav1.Now()
	condition := func(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: now}
	}
	return []metav1.Condition{
		condition("Configured", metav1.ConditionTrue, "ConfigurationsConfigured", "Configurations configured"),
		condition("Progressing", metav1.ConditionFalse, "Completed", progress),
		condition("RegistrationApplied", metav1.ConditionTrue, "SetPermissionApplied", "Registration of the addon agent is configured"),
		condition("ClusterCertificateRotated", metav1.ConditionTrue, "ClientCertificateUpdated", "client certificate rotated starting from 2026-01-01 to 2027-01-01"),
		condition("ManifestApplied", metav1.ConditionTrue, "AddonManifestApplied", "manifests of addon are applied successfully"),
		availableCondition(addOn, available, since),
	}
}

// availableCondition has the reasons and messages of OCM's lease controller. On a lost cluster, it has the reason
// and message of OCM's hub.
func availableCondition(addOn string, status metav1.ConditionStatus, since metav1.Time) metav1.Condition {
	condition := metav1.Condition{Type: availability.ConditionAvailable, Status: status, LastTransitionTime: since}
	switch status {
	case metav1.ConditionTrue:
		condition.Reason, condition.Message = availability.ReasonLeaseUpdated, addOn+" add-on is available."
	case metav1.ConditionFalse:
		condition.Reason, condition.Message = availability.ReasonLeaseStopped, addOn+" add-on is not available."
	default:
		condition.Reason, condition.Message = clusterStopped, "Registration agent stopped updating its lease."
	}
	return condition
}
