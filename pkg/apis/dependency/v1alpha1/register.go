package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is Interlock's own group and version.
var GroupVersion = schema.GroupVersion{Group: "dependency.addon.open-cluster-management.io", Version: "v1alpha1"}

// Kind is the kind of ManagedClusterFacts.
var Kind = GroupVersion.WithKind("ManagedClusterFacts")

// Resource is the resource of ManagedClusterFacts. The name is the same in singular and plural.
var Resource = GroupVersion.WithResource("managedclusterfacts")

// CRDName is the name of the CustomResourceDefinition of ManagedClusterFacts.
const CRDName = "managedclusterfacts.dependency.addon.open-cluster-management.io"

// ReportKind is the kind of AddOnDependencyReport.
var ReportKind = GroupVersion.WithKind("AddOnDependencyReport")

// ReportCRDName is the name of the CustomResourceDefinition of AddOnDependencyReport.
const ReportCRDName = "addondependencyreports.dependency.addon.open-cluster-management.io"

// FleetReportKind is the kind of AddOnFleetReport.
var FleetReportKind = GroupVersion.WithKind("AddOnFleetReport")

// FleetReportCRDName is the name of the CustomResourceDefinition of AddOnFleetReport.
const FleetReportCRDName = "addonfleetreports.dependency.addon.open-cluster-management.io"

// PolicyKind is the kind of AddOnDependencyPolicy.
var PolicyKind = GroupVersion.WithKind("AddOnDependencyPolicy")

// PolicyResource is the resource of AddOnDependencyPolicies.
var PolicyResource = GroupVersion.WithResource("addondependencypolicies")

// PolicyCRDName is the name of the CustomResourceDefinition of AddOnDependencyPolicy.
const PolicyCRDName = "addondependencypolicies.dependency.addon.open-cluster-management.io"

// InstallationKind is the kind of AddOnInstallation.
var InstallationKind = GroupVersion.WithKind("AddOnInstallation")

// InstallationCRDName is the name of the CustomResourceDefinition of AddOnInstallation.
const InstallationCRDName = "addoninstallations.dependency.addon.open-cluster-management.io"

// AddToScheme registers the types of this package.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &ManagedClusterFacts{}, &ManagedClusterFactsList{},
		&AddOnDependencyReport{}, &AddOnDependencyReportList{}, &AddOnDependencyPolicy{}, &AddOnDependencyPolicyList{},
		&AddOnInstallation{}, &AddOnInstallationList{}, &AddOnFleetReport{}, &AddOnFleetReportList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
