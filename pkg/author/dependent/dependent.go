// Package dependent is for authors of add-ons that depend on others and are
// built on OCM's addon-framework. It wraps an agent.AgentAddon:
//
//   - While a Required dependency is not satisfied, the add-on's own health
//     check fails, with the reason in its message. Otherwise, on a hub without the
//     guard, addon-framework would set Available to True and Interlock's agent
//     to False, in turns.
//   - With Ordered, the add-on is installed on a cluster only when its Required
//     dependencies are satisfied there for the first time. It then stays installed,
//     also when they fail later. Where the ManagedClusterAddOn has a gate, which
//     Interlock's addon-manager opens, the gate alone decides, and the library does
//     not write the condition Installable.
//
// The ClusterManagementAddOn declares the dependencies. Interlock's addon-manager
// evaluates them.
package dependent

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	"open-cluster-management.io/addon-framework/pkg/agent"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/text"
)

// ConditionInstallable is the condition of a ManagedClusterAddOn for an ordered installation. It is False, with the unsatisfied
// dependencies in its message, until the add-on may be installed, and then True for as long as the add-on exists.
const ConditionInstallable = gate.ConditionInstallable

// The reasons of ConditionInstallable.
const (
	ReasonWaiting   = gate.ReasonWaiting
	ReasonSatisfied = gate.ReasonSatisfied
)

// Option changes the behavior of Wrap.
type Option func(*addOn)

// Ordered installs the add-on when its Required dependencies are satisfied for the
// first time. It reads the hub, through v1alpha1 and without lists, only while
// addon-manager has not evaluated the add-on yet. It then gets the add-on's
// ClusterManagementAddOn and the ManagedClusterAddOns that it depends on. See NewHub.
func Ordered(hub client.Reader) Option {
	return func(a *addOn) { a.hub = hub }
}

// Wrap returns an add-on that respects its dependencies. Give it to addon-framework's
// manager instead of inner.
func Wrap(inner agent.AgentAddon, options ...Option) agent.AgentAddon {
	wrapped := &addOn{AgentAddon: inner, clock: clock.RealClock{}}
	for _, option := range options {
		option(wrapped)
	}
	return wrapped
}

type addOn struct {
	agent.AgentAddon
	hub   client.Reader // hub is nil if the installation is not ordered.
	clock clock.PassiveClock
}

// GetAgentAddonOptions implements agent.AgentAddon.
func (a *addOn) GetAgentAddonOptions() agent.AgentAddonOptions {
	options := a.AgentAddon.GetAgentAddonOptions()
	options.HealthProber = probe(options.HealthProber)
	return options
}

// Manifests implements agent.AgentAddon. It returns no manifests while the add-on
// waits to be installed. It sets the condition on the add-on that it is called with,
// and addon-framework writes it with its own conditions.
func (a *addOn) Manifests(ctx context.Context, cluster *clusterv1.ManagedCluster, installed *addonv1beta1.ManagedClusterAddOn) ([]runtime.Object, error) {
	if a.hub == nil || wasInstalled(installed.Status.Conditions) {
		return a.AgentAddon.Manifests(ctx, cluster, installed)
	}
	switch installed.Annotations[addonv1alpha1.GateAnnotation] {
	case addonv1alpha1.GateOpen:
		return a.AgentAddon.Manifests(ctx, cluster, installed)
	case addonv1alpha1.GateClosed:
		return nil, nil // the gate rule is not in force: OCM would not call otherwise
	}
	inputs, err := a.gather(ctx, installed)
	if err != nil {
		return nil, fmt.Errorf("find out whether the dependencies of %s are satisfied on %s: %w", installed.Name, installed.Namespace, err)
	}
	switch decision := decide(inputs); decision.step {
	case install:
		meta.SetStatusCondition(&installed.Status.Conditions, metav1.Condition{
			Type: ConditionInstallable, Status: metav1.ConditionTrue, Reason: ReasonSatisfied,
			Message: text.Final(gate.MessageSatisfied),
		})
		return a.AgentAddon.Manifests(ctx, cluster, installed)
	case wait:
		setWaiting(installed, decision.message)
		return nil, nil
	default:
		// After an error, addon-framework calls again although nothing changes.
		setWaiting(installed, decision.message)
		return nil, fmt.Errorf("%s is not installed on %s yet: %s", installed.Name, installed.Namespace, decision.message)
	}
}

func setWaiting(installed *addonv1beta1.ManagedClusterAddOn, message string) {
	meta.SetStatusCondition(&installed.Status.Conditions, metav1.Condition{
		Type: ConditionInstallable, Status: metav1.ConditionFalse, Reason: ReasonWaiting, Message: text.Final(message),
	})
}

// wasInstalled reports whether the add-on has been installed before: in order,
// or before its installation was ordered. The second one was never decided on, so
// it has no Installable. While an add-on waits, addon-framework sets ManifestApplied,
// too, because there is nothing to apply.
func wasInstalled(conditions []metav1.Condition) bool {
	if installable := meta.FindStatusCondition(conditions, ConditionInstallable); installable != nil {
		return installable.Status == metav1.ConditionTrue
	}
	for _, kind := range []string{addonv1beta1.ManagedClusterAddOnManifestApplied, addonv1beta1.ManagedClusterAddOnHostingManifestApplied} {
		if meta.IsStatusConditionTrue(conditions, kind) {
			return true
		}
	}
	return false
}

// gather reads the inputs of a decision.
func (a *addOn) gather(ctx context.Context, installed *addonv1beta1.ManagedClusterAddOn) (inputs, error) {
	inputs := inputs{
		degraded: meta.FindStatusCondition(installed.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionDegraded),
		age:      a.clock.Since(installed.CreationTimestamp.Time),
	}
	if inputs.degraded != nil && condition.Owned(inputs.degraded) {
		return inputs, nil // addon-manager has evaluated it
	}
	var err error
	inputs.unsatisfied, inputs.incomplete, err = evaluate(ctx, a.hub, installed)
	return inputs, err
}
