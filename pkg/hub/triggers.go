package hub

import (
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubapis"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/lazywatch"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/configurer"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/ondemand"
	"open-cluster-management.io/interlock/pkg/hub/policies"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// triggers connect the controllers: each one enqueues keys in another controller. Every change that affects add-ons reaches the status
// controller. Other controllers subscribe to its assessments.
//
//	CMAs, AddOnTemplates, policies → declarations ┐
//	ManagedClusterFacts → facts ──────────────────┤
//	CRDs and APIServices of the hub → hubapis ────┼─evaluate→ status ─assessments→ metrics, reports, installations, settings
//	AddOnDeploymentConfigs, Placements, … (lazy) ─┤
//	guard, installations ─────────────────────────┘
type triggers struct {
	// request enqueues managed clusters in the facts controller.
	request *trigger.Trigger
	// evaluate enqueues add-ons on managed clusters in the status controller.
	evaluate *trigger.Trigger
	// declare triggers the declarations controller, which builds the catalog.
	declare *trigger.Trigger
	// policies triggers the policies controller, which writes the status of all policies.
	policies *trigger.Trigger
	// installations enqueues add-ons on managed clusters in the controller of AddOnInstallations.
	installations *trigger.Trigger
	// settings enqueues add-ons on managed clusters in the controller of settings.
	settings *trigger.Trigger
	// hubAPIs triggers the hubapis controller.
	hubAPIs *trigger.Trigger
}

func newTriggers() triggers {
	return triggers{
		request:       trigger.New(),
		evaluate:      trigger.New(),
		declare:       trigger.New(),
		policies:      trigger.New(),
		hubAPIs:       trigger.New(),
		installations: trigger.New(),
		settings:      trigger.New(),
	}
}

// catalogPublished triggers the controllers that follow a new catalog.
func (t triggers) catalogPublished() {
	t.policies.Enqueue(policies.Key)
	t.hubAPIs.Enqueue(hubapis.Key)
	t.installations.Enqueue(ondemand.Everything)
}

// lazyAddOns returns the mapping of lazily watched objects to add-ons.
func (t triggers) lazyAddOns(reader hubcache.Reader, store *declarations.Store, configs *configurer.Changes) lazywatch.AddOns {
	return lazywatch.AddOns{
		Fleet:        reader,
		Declarations: store,
		Evaluate:     t.evaluate,
		Declare:      t.declare,
		Policies:     t.policies,
		Configured:   configs.Config,
	}
}
