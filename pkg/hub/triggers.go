package hub

import (
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubapis"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/installation"
	"open-cluster-management.io/interlock/pkg/hub/lazywatch"
	lifecycle "open-cluster-management.io/interlock/pkg/hub/lifecycle/installation"
	"open-cluster-management.io/interlock/pkg/hub/policies"
	"open-cluster-management.io/interlock/pkg/hub/settings"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// triggers are how the controllers enqueue one another. All that concerns add-ons ends in status, and begins there again: others subscribe
// to its assessments.
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
	// declare enqueues the catalog in the declarations controller.
	declare *trigger.Trigger
	// policies enqueues the statuses of all policies.
	policies *trigger.Trigger
	// install enqueues what is to be installed in the controller of installations by Placements.
	install *trigger.Trigger
	// installations enqueues add-ons on managed clusters in the controller of AddOnInstallations.
	installations *trigger.Trigger
	// settings enqueues add-ons on managed clusters in the controller of settings.
	settings *trigger.Trigger
	// hubAPIs enqueues what the hub serves in the hubapis controller.
	hubAPIs *trigger.Trigger
}

func newTriggers() triggers {
	return triggers{
		request: trigger.New(), evaluate: trigger.New(), declare: trigger.New(), policies: trigger.New(), hubAPIs: trigger.New(),
		install: trigger.New(), installations: trigger.New(), settings: trigger.New(),
	}
}

// counted follows a catalog that was published.
func (t triggers) counted() {
	t.policies.Enqueue(policies.Key)
	t.hubAPIs.Enqueue(hubapis.Key)
	t.install.Enqueue(installation.Key)
	t.installations.Enqueue(lifecycle.Everything)
}

// addOns are those that follow what only some declarations use.
func (t triggers) addOns(reader hubcache.Reader, store *declarations.Store, configs *settings.Changes) lazywatch.AddOns {
	return lazywatch.AddOns{
		Fleet: reader, Declarations: store, Evaluate: t.evaluate, Declare: t.declare, Policies: t.policies, Configured: configs.Config,
		Selectable: func() { t.install.Enqueue(installation.Key) },
	}
}
