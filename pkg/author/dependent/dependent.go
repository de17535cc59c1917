// Package dependent is for authors of add-ons that depend on others and are
// built on OCM's addon-framework. It wraps an agent.AgentAddon:
//
//   - While a Required dependency is not satisfied, the add-on's own health
//     check fails, and its message says why. Without it, on a hub without the
//     guard, addon-framework would set Available to True, and Interlock's agent
//     to False, in turns.
//   - With Ordered, the add-on is installed on a cluster only when its Required
//     dependencies have been satisfied there for the first time. Once it has
//     been, it stays installed whatever becomes of them.
//
// What the dependencies are is declared on the ClusterManagementAddOn; whether
// they are satisfied is said by Interlock's addon-manager.
package dependent

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"open-cluster-management.io/addon-framework/pkg/agent"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/dependency/condition"
)

// ConditionInstallable is the condition of a ManagedClusterAddOn on which an
// ordered installation is kept: True once the add-on may be installed, and for
// as long as it exists; False, with what it waits for, before.
const ConditionInstallable = "Installable"

// The reasons of ConditionInstallable.
const (
	ReasonWaiting   = "WaitingForDependencies"
	ReasonSatisfied = "RequiredDependenciesSatisfied"
)

// Option changes what Wrap does.
type Option func(*addOn)

// Ordered has the add-on installed when its Required dependencies are satisfied
// for the first time. The hub is read, through v1alpha1 and never listed, for
// the few cases in which addon-manager has not said anything yet: the add-on's
// ClusterManagementAddOn and the ManagedClusterAddOns that it depends on. See
// NewHub.
func Ordered(hub client.Reader) Option {
	return func(a *addOn) { a.hub = hub }
}

// Wrap returns the add-on with regard to its dependencies, to be given to
// addon-framework's manager in the place of inner.
func Wrap(inner agent.AgentAddon, options ...Option) agent.AgentAddon {
	wrapped := &addOn{AgentAddon: inner, clock: clock.RealClock{}}
	for _, option := range options {
		option(wrapped)
	}
	return wrapped
}

type addOn struct {
	agent.AgentAddon
	hub   client.Reader // nil: the installation is not ordered
	clock clock.PassiveClock
}

// GetAgentAddonOptions implements agent.AgentAddon.
func (a *addOn) GetAgentAddonOptions() agent.AgentAddonOptions {
	options := a.AgentAddon.GetAgentAddonOptions()
	options.HealthProber = probe(options.HealthProber)
	return options
}

// Manifests implements agent.AgentAddon. It returns nothing while the add-on
// waits to be installed; addon-framework leaves alone what is installed then.
// The condition is set on the add-on that is passed, and written by
// addon-framework with whatever else it has to say.
func (a *addOn) Manifests(ctx context.Context, cluster *clusterv1.ManagedCluster, installed *addonv1beta1.ManagedClusterAddOn) ([]runtime.Object, error) {
	if a.hub == nil || wasInstalled(installed.Status.Conditions) {
		return a.AgentAddon.Manifests(ctx, cluster, installed)
	}
	said, err := a.ask(ctx, installed)
	if err != nil {
		return nil, fmt.Errorf("find out whether the dependencies of %s are satisfied on %s: %w", installed.Name, installed.Namespace, err)
	}
	switch next := decide(said); next.step {
	case install:
		meta.SetStatusCondition(&installed.Status.Conditions, metav1.Condition{
			Type: ConditionInstallable, Status: metav1.ConditionTrue, Reason: ReasonSatisfied,
			Message: "All Required dependencies have been satisfied; the add-on stays installed from now on.",
		})
		return a.AgentAddon.Manifests(ctx, cluster, installed)
	case wait:
		setWaiting(installed, next.message)
		return nil, nil
	default:
		// An error is what has addon-framework ask again though nothing changes.
		setWaiting(installed, next.message)
		return nil, fmt.Errorf("%s is not installed on %s yet: %s", installed.Name, installed.Namespace, next.message)
	}
}

func setWaiting(installed *addonv1beta1.ManagedClusterAddOn, message string) {
	meta.SetStatusCondition(&installed.Status.Conditions, metav1.Condition{
		Type: ConditionInstallable, Status: metav1.ConditionFalse, Reason: ReasonWaiting, Message: message,
	})
}

// manifestsApplied is what addon-framework says of works that were applied; it
// has another message where there was nothing to apply.
const manifestsApplied = "manifests of addon are applied successfully"

// wasInstalled reports whether the add-on has been installed before: in order,
// or before its installation was ordered.
func wasInstalled(conditions []metav1.Condition) bool {
	if meta.IsStatusConditionTrue(conditions, ConditionInstallable) {
		return true
	}
	for _, kind := range []string{addonv1beta1.ManagedClusterAddOnManifestApplied, addonv1beta1.ManagedClusterAddOnHostingManifestApplied} {
		applied := meta.FindStatusCondition(conditions, kind)
		if applied != nil && applied.Status == metav1.ConditionTrue && strings.HasPrefix(applied.Message, manifestsApplied) {
			return true
		}
	}
	return false
}

// ask gathers what a decision rests on.
func (a *addOn) ask(ctx context.Context, installed *addonv1beta1.ManagedClusterAddOn) (said, error) {
	known := said{
		degraded: meta.FindStatusCondition(installed.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionDegraded),
		age:      a.clock.Since(installed.CreationTimestamp.Time),
	}
	if known.degraded != nil && condition.Owned(known.degraded) {
		return known, nil // addon-manager has spoken
	}
	var err error
	known.unsatisfied, known.beyond, err = look(ctx, a.hub, installed)
	return known, err
}
