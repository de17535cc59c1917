package v1alpha1

import (
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// ManagedClusterAddOn is an add-on on one managed cluster. Interlock adds no
// field to it, so it is OCM's own type.
type ManagedClusterAddOn = addonv1alpha1.ManagedClusterAddOn

// ManagedClusterAddOnList is a list of ManagedClusterAddOn resources.
type ManagedClusterAddOnList = addonv1alpha1.ManagedClusterAddOnList

// AddOnDeploymentConfig holds variables of an add-on. It is OCM's own type.
type AddOnDeploymentConfig = addonv1alpha1.AddOnDeploymentConfig

// AddOnDeploymentConfigList is a list of AddOnDeploymentConfig resources.
type AddOnDeploymentConfigList = addonv1alpha1.AddOnDeploymentConfigList

// AddOnTemplate has the manifests from which OCM deploys an add-on. It is OCM's own type.
type AddOnTemplate = addonv1alpha1.AddOnTemplate

// AddOnTemplateList is a list of AddOnTemplate resources.
type AddOnTemplateList = addonv1alpha1.AddOnTemplateList

// The conditions of a ManagedClusterAddOn that depend on its dependencies.
const (
	// ManagedClusterAddOnConditionAvailable is the type of the condition that reports an add-on's health.
	ManagedClusterAddOnConditionAvailable = addonv1alpha1.ManagedClusterAddOnConditionAvailable
	// ManagedClusterAddOnConditionDegraded is the type of the condition that Interlock decides.
	ManagedClusterAddOnConditionDegraded = addonv1alpha1.ManagedClusterAddOnConditionDegraded
	// ManagedClusterAddOnConditionReplacedDegraded is the type of the condition that keeps the reason and the message of another writer's
	// Degraded, while Interlock's replaces it.
	ManagedClusterAddOnConditionReplacedDegraded = "ReplacedDegraded"
	// AddonReasonNothingReplaced is the reason of ReplacedDegraded while Interlock replaces no condition.
	AddonReasonNothingReplaced = "NothingReplaced"
	// ManagedClusterAddOnConditionInstallable is the type of the condition that lists the dependencies an installation waits for.
	ManagedClusterAddOnConditionInstallable = "Installable"
	// ManagedClusterAddOnConditionUpgradable is the type of the condition that lists the dependencies another AddOnTemplate waits for.
	ManagedClusterAddOnConditionUpgradable = "Upgradable"
)

// the reasons of condition ManagedClusterAddOnConditionDegraded
const (
	// AddonDegradedReasonDependencyNotSatisfied is the reason of condition Degraded indicating that one or more
	// soft (optional) dependencies of the addon are not satisfied (not installed or not available).
	// The addon may still be Available with reduced functionality.
	AddonDegradedReasonDependencyNotSatisfied = "DependencyNotSatisfied"

	// AddonDegradedReasonRequiredDependencyNotSatisfied is the reason of condition Degraded indicating that one or more
	// hard (required) dependencies of the addon are not satisfied (not installed or not available).
	// The Available condition should also be set to False as the addon cannot function.
	AddonDegradedReasonRequiredDependencyNotSatisfied = "RequiredDependencyNotSatisfied"

	// AddonDegradedReasonDependenciesSatisfied is the reason of Degraded=False once failed dependencies are satisfied
	// again. The proposal only requires the removal of its two reasons. A condition that a stock writer has co-written
	// is not deleted when its owner drops it, so it is set to False instead.
	AddonDegradedReasonDependenciesSatisfied = "DependenciesSatisfied"
)
