// Package installer installs an admission rule on the hub, in one of its two forms. It restores the rule after other
// writers change it, reports whether the API server acts on it, and removes it.
//
// What ends it: the rules, see packages guard and gate. `addon-manager uninstall` must remove a
// rule for one release more.
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

// Mode says which form of a rule is installed.
type Mode string

// The modes.
const (
	// ModeAuto installs a policy where the API server acts on policies, else a
	// webhook where addon-manager webhook is deployed, else nothing.
	ModeAuto    Mode = "auto"
	ModePolicy  Mode = "policy"
	ModeWebhook Mode = "webhook"
	// ModeOff removes what was installed before.
	ModeOff Mode = "off"
)

// Modes are all modes in the order of the flag's help.
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
	// InForce is called with whether the hub was observed to act on the rule, when
	// that changes. It may be nil.
	InForce func(context.Context, bool) error

	// watch watches the objects, policies in that version; "" is none.
	watch    func(version string) error
	applied  map[string]applied // by kind
	reported report
}

// applied is the state of an object after it was last applied.
type applied struct {
	resourceVersion string
	since           time.Time // when it was changed
}

// Reconcile installs the form of the rule that the mode demands. It checks
// each time what the API server serves and acts on, so that it follows upgrades.
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
	after, err := i.report(ctx, policy, webhook)
	return reconcile.Result{RequeueAfter: after}, err
}

// policy installs the policy, where the mode allows it and the hub serves it.
func (i *Installer) policy(ctx context.Context, version string) (status, error) {
	if i.Mode != ModeAuto && i.Mode != ModePolicy {
		return status{phase: notWanted}, nil
	}
	if version == "" {
		return status{phase: notWanted, why: "the hub does not serve MutatingAdmissionPolicy"}, nil
	}
	objects, err := i.Rule.Policy(version)
	if err != nil {
		return status{}, err
	}
	return i.install(ctx, rule.FormPolicy, objects...)
}

// webhook installs the webhook, where the mode allows it and it is deployed. In
// mode auto it does so only while the policy is not in force.
func (i *Installer) webhook(ctx context.Context, policy status) (status, error) {
	switch {
	case i.Mode != ModeAuto && i.Mode != ModeWebhook, i.Mode == ModeAuto && policy.phase == inForce:
		return status{phase: notWanted}, nil
	case i.Mode == ModeAuto && policy.phase == settling:
		return status{phase: settling, why: "waiting for the policy to take effect"}, nil
	}
	config, err := endpoint.Find(ctx, i.Client, endpoint.ConfigurationName, i.Rule.Path)
	if apierrors.IsForbidden(err) {
		return status{phase: forbidden, why: err.Error()}, nil
	}
	if errors.Is(err, endpoint.ErrNotDeployed) {
		return status{phase: notWanted, why: err.Error()}, nil
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
	var since time.Time
	for _, object := range objects {
		at, err := i.apply(ctx, object)
		if apierrors.IsForbidden(err) {
			return status{phase: forbidden, why: err.Error()}, nil
		}
		if err != nil {
			return status{}, err
		}
		if at.After(since) {
			since = at
		}
	}
	found := i.probe(ctx, form)
	if found.phase == ignored && i.Clock.Since(since) < i.Timing.settling() {
		found.phase = settling
	}
	return found, nil
}

// apply applies an object, and returns when that last changed it. The API server
// stores nothing where nothing changes.
func (i *Installer) apply(ctx context.Context, object *unstructured.Unstructured) (time.Time, error) {
	kind := object.GroupVersionKind()
	err := i.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(names.AddonManager), client.ForceOwnership)
	if err != nil {
		return time.Time{}, fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
	}
	if version := object.GetResourceVersion(); i.applied[kind.Kind].resourceVersion != version {
		i.applied[kind.Kind] = applied{resourceVersion: version, since: i.Clock.Now()}
		log.FromContext(ctx).Info(i.Rule.Title+" is installed", "kind", kind.Kind, "version", kind.Version, "name", object.GetName())
	}
	return i.applied[kind.Kind].since, nil
}
