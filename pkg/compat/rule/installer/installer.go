// Package installer installs an admission rule on the hub, in one of its two forms. It restores the rule after other
// writers change it, reports whether the API server acts on it, and removes it.
//
// The package is needed as long as any rule: see packages guard and gate. `addon-manager uninstall` must remove a
// rule for one more release.
package installer

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/names"
)

// Mode selects the form of a rule to install.
type Mode string

// The modes.
const (
	// ModeAuto installs a policy if the API server acts on policies. If not, it installs a
	// webhook if addon-manager webhook is deployed.
	ModeAuto    Mode = "auto"
	ModePolicy  Mode = "policy"
	ModeWebhook Mode = "webhook"
	// ModeOff removes all forms.
	ModeOff Mode = "off"
)

// Modes has all modes in the order of the flag's help.
var Modes = []Mode{ModeAuto, ModePolicy, ModeWebhook, ModeOff}

// Installer installs a rule in the form of its mode, and removes other forms.
type Installer struct {
	Rule *rule.Rule
	Mode Mode
	// Client writes the rule's objects. Live reads without a cache.
	Client    client.Client
	Live      client.Reader
	Discovery discovery.ServerResourcesInterface
	Clock     clock.PassiveClock
	Metrics   *Metrics
	Timing    Timing
	// InForce is called when the hub begins or stops to act on the rule, with true if it
	// does. It may be nil.
	InForce func(context.Context, bool) error

	// watch watches the objects. The version is the served version of policies, or empty.
	watch    func(version string) error
	applied  map[string]applied // by kind
	reported report
}

// applied is the state of an object after it was last applied.
type applied struct {
	resourceVersion string
	// changed is the time of the last change.
	changed time.Time
}

// Reconcile installs the form of the rule that the mode demands. It checks
// each time which kinds the API server serves and acts on, so that it follows upgrades.
func (i *Installer) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	version, err := servedVersion(i.Discovery)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := i.watch(version); err != nil {
		return reconcile.Result{}, err
	}
	// Install first, remove later: so a change of form leaves no gap.
	policy, err := i.policy(ctx, version)
	if err != nil {
		return reconcile.Result{}, err
	}
	webhook, err := i.webhook(ctx, policy)
	if err != nil {
		return reconcile.Result{}, err
	}
	err = i.removeNotWanted(ctx, version, policy, webhook)
	if apierrors.IsForbidden(err) {
		// An object that may not even be read was not installed by addon-manager.
		log.FromContext(ctx).Info("Cannot read other forms of the rule", "name", i.Rule.Name, "reason", err.Error())
	} else if err != nil {
		return reconcile.Result{}, err
	}
	recheck, err := i.report(ctx, policy, webhook)
	return reconcile.Result{RequeueAfter: recheck}, err
}

// policy installs the policy, if the mode allows it and the hub serves it.
func (i *Installer) policy(ctx context.Context, version string) (status, error) {
	if i.Mode != ModeAuto && i.Mode != ModePolicy {
		return status{phase: notWanted}, nil
	}
	if version == "" {
		return status{phase: notWanted, reason: "the hub does not serve MutatingAdmissionPolicy"}, nil
	}
	objects, err := i.Rule.Policy(version)
	if err != nil {
		return status{}, err
	}
	return i.install(ctx, rule.FormPolicy, objects...)
}

// webhook installs the webhook, if the mode allows it and it is deployed. In
// mode auto it installs the webhook only while the policy is not in force.
func (i *Installer) webhook(ctx context.Context, policy status) (status, error) {
	switch {
	case i.Mode != ModeAuto && i.Mode != ModeWebhook, i.Mode == ModeAuto && policy.phase == inForce:
		return status{phase: notWanted}, nil
	case i.Mode == ModeAuto && policy.phase == settling:
		return status{phase: settling, reason: "waiting for the policy to take effect"}, nil
	}
	config, err := endpoint.Find(ctx, i.Client, endpoint.ConfigurationName, i.Rule.Path)
	if apierrors.IsForbidden(err) {
		return status{phase: forbidden, reason: err.Error()}, nil
	}
	if errors.Is(err, endpoint.ErrNotDeployed) {
		return status{phase: notWanted, reason: err.Error()}, nil
	}
	if err != nil {
		return status{}, err
	}
	object, err := i.Rule.Webhook(*config)
	if err != nil {
		return status{}, err
	}
	return i.install(ctx, rule.FormWebhook, object)
}

// install applies the objects of one form and probes whether it is in force.
func (i *Installer) install(ctx context.Context, form rule.Form, objects ...*unstructured.Unstructured) (status, error) {
	var lastChange time.Time
	for _, object := range objects {
		changed, err := i.apply(ctx, object)
		if apierrors.IsForbidden(err) {
			return status{phase: forbidden, reason: err.Error()}, nil
		}
		if err != nil {
			return status{}, err
		}
		if changed.After(lastChange) {
			lastChange = changed
		}
	}
	probed := i.probe(ctx, form)
	if probed.phase == ignored && i.Clock.Since(lastChange) < i.Timing.settling() {
		probed.phase = settling
	}
	return probed, nil
}

// apply applies an object, and returns the time of its last change. The API server
// does not store an unchanged object again.
func (i *Installer) apply(ctx context.Context, object *unstructured.Unstructured) (time.Time, error) {
	kind := object.GroupVersionKind()
	err := i.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(names.AddonManager), client.ForceOwnership)
	if err != nil {
		return time.Time{}, fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
	}
	if version := object.GetResourceVersion(); i.applied[kind.Kind].resourceVersion != version {
		i.applied[kind.Kind] = applied{resourceVersion: version, changed: i.Clock.Now()}
		log.FromContext(ctx).Info(i.Rule.Title+" is installed", "kind", kind.Kind, "version", kind.Version, "name", object.GetName())
	}
	return i.applied[kind.Kind].changed, nil
}
