package stock

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// Registered is the condition without which addon-framework deploys no object of an add-on: see
// agentdeploy/controller.go.
var Registered = &metav1.Condition{
	Type: ocmv1alpha1.ManagedClusterAddOnRegistrationApplied, Status: metav1.ConditionTrue,
	Reason: ocmv1alpha1.RegistrationAppliedSetPermissionApplied, Message: "Registration of the addon agent is configured",
}

// Registration sets the condition RegistrationApplied as soon as the add-on exists, independent of the rest of its
// status. It has an owner and all permissions here.
var Registration = &Rule{
	Name: "addon-registration-controller", Component: AddOnManager,
	Module: addonFramework, Source: "pkg/addonmanager/controllers/registration/controller.go",
	Watches: []Object{AddOns},
	Cases: []Case{
		{Match: Situation{Registered: metav1.ConditionTrue}},
		{Write: Write{Registered: Registered}},
	},
}

// Configuration sets the reference to the AddOnTemplate that is rolled out. A reference to another AddOnTemplate is
// removed, together with its applied configuration: see mergeAddonConfig.
var Configuration = &Rule{
	Name: "addon-configuration-controller", Component: AddOnManager,
	Module: ocm, Source: "pkg/addon/controllers/addonconfiguration/addon_configuration_reconciler.go",
	Watches: []Object{AddOns},
	Cases: []Case{
		{Match: Situation{Reference: NoReference}, Write: Write{Reference: ThisReference}},
		{Match: Situation{Reference: AnotherReference}, Write: Write{Reference: ThisReference}},
	},
}

// Progressing marks the referenced template as applied, once its works have it and are available. There are no works
// before the add-on is registered.
var Progressing = &Rule{
	Name: "addon-progressing-controller", Component: AddOnManager,
	Module: ocm, Source: "pkg/addon/controllers/addonprogressing/controller.go",
	Watches: []Object{AddOns},
	Cases: []Case{
		{Match: Situation{Reference: NoReference}},
		{Match: Situation{Registered: metav1.ConditionTrue, Rollout: RolloutPending}, Write: Write{Rollout: RolloutCompleted}},
	},
}
