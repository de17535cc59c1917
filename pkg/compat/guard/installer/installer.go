// Package installer puts the guard in force on the hub, keeps it so, says whether
// it is, and takes it away again.
package installer

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/compat/guard"
)

// FieldManager is the name under which addon-manager owns the guard's objects,
// every field of them.
const FieldManager = "interlock-addon-manager"

// Mode says which form of the guard is in force.
type Mode string

// The modes.
const (
	// ModeAuto is a policy where the API server heeds policies, else a webhook
	// where one is served, else nothing.
	ModeAuto    Mode = "auto"
	ModePolicy  Mode = "policy"
	ModeWebhook Mode = "webhook"
	// ModeOff removes what was installed before.
	ModeOff Mode = "off"
)

// Modes are all modes, in the order in which help lists them.
var Modes = []Mode{ModeAuto, ModePolicy, ModeWebhook, ModeOff}

// Installer installs the guard in the form that its mode asks for, and removes
// every other.
type Installer struct {
	Mode Mode
	// Served is how to find out where the guard is served as a webhook.
	Served Served
	// Client writes the guard's objects; Live reads what no cache has.
	Client    client.Client
	Live      client.Reader
	Discovery discovery.ServerResourcesInterface
	Clock     clock.PassiveClock
	Metrics   *Metrics
	Timing    Timing

	// watch has the controller watch an object from now on, unwatch no longer.
	watch   func(kind schema.GroupVersionKind, name string) error
	unwatch func(kind schema.GroupVersionKind)
	// watched are the versions of the kinds that are watched.
	watched map[string]string
	// applied is which object of a kind was last written, and since when.
	applied  map[string]applied
	reported report
}

type applied struct {
	desired         *unstructured.Unstructured
	resourceVersion string
	since           time.Time
}

// Reconcile brings the hub to what the mode asks for. It looks anew each time
// at what the API server serves and heeds, so that it follows an upgrade.
func (i *Installer) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	version, err := servedVersion(i.Discovery)
	if err != nil {
		return reconcile.Result{}, err
	}
	i.forgetUnserved(version)
	// What is to stay comes first, so that a change of form leaves no time
	// without a guard.
	policy, err := i.policy(ctx, version)
	if err != nil {
		return reconcile.Result{}, err
	}
	webhook, err := i.webhook(ctx, policy)
	if err != nil {
		return reconcile.Result{}, err
	}
	err = i.removeOthers(ctx, version, policy, webhook)
	if apierrors.IsForbidden(err) {
		// What we may not even look for we have not installed.
		log.FromContext(ctx).Info("Could not look for other forms of the guard", "reason", err.Error())
	} else if err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: i.report(ctx, policy, webhook)}, nil
}

// policy puts the policy in force, where that is asked for and can be had.
func (i *Installer) policy(ctx context.Context, version string) (finding, error) {
	if i.Mode != ModeAuto && i.Mode != ModePolicy {
		return finding{standing: unwanted}, nil
	}
	if version == "" {
		return finding{standing: unwanted, why: "the hub does not serve MutatingAdmissionPolicy"}, nil
	}
	objects, err := guard.Policy(version)
	if err != nil {
		return finding{}, err
	}
	return i.establish(ctx, guard.ProbePolicy, objects...)
}

// webhook puts the webhook in force, where that is asked for and can be had:
// with auto, as long as the policy has not proved that it is heeded.
func (i *Installer) webhook(ctx context.Context, policy finding) (finding, error) {
	switch {
	case i.Mode != ModeAuto && i.Mode != ModeWebhook, i.Mode == ModeAuto && policy.standing == inForce:
		return finding{standing: unwanted}, nil
	case i.Mode == ModeAuto && policy.standing == arriving:
		return finding{standing: arriving, why: "the policy is awaited"}, nil
	}
	place, why, err := i.Served.place(ctx, i.Client)
	if apierrors.IsForbidden(err) {
		return finding{standing: forbidden, why: err.Error()}, nil
	}
	if err == nil {
		err = i.startWatching(validatingKind)
	}
	if err != nil || place == nil {
		return finding{standing: unwanted, why: why}, err
	}
	object, err := guard.Webhook(*place)
	if err != nil {
		return finding{}, err
	}
	return i.establish(ctx, guard.ProbeWebhook, object)
}

// establish applies the objects of one form and finds out whether it is in force.
func (i *Installer) establish(ctx context.Context, probe string, objects ...*unstructured.Unstructured) (finding, error) {
	var since time.Time
	for _, object := range objects {
		err := i.keep(ctx, object)
		if apierrors.IsForbidden(err) {
			return finding{standing: forbidden, why: err.Error()}, nil
		}
		if err != nil {
			return finding{}, err
		}
		if at := i.applied[object.GetKind()].since; at.After(since) {
			since = at
		}
	}
	found := i.probe(ctx, probe)
	if found.standing == unheeded && i.Clock.Since(since) < i.Timing.settling() {
		found.standing = arriving
	}
	return found, nil
}

// keep applies an object and watches it, so that it is put back when another
// writer changes or deletes it. An object that is stored as it was applied last is
// not applied again: the request would change nothing.
func (i *Installer) keep(ctx context.Context, object *unstructured.Unstructured) error {
	kind, desired := object.GroupVersionKind(), object.DeepCopy()
	stored, err := i.stored(ctx, desired)
	if err != nil || stored {
		return err
	}
	err = i.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(FieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
	}
	if version := object.GetResourceVersion(); i.applied[kind.Kind].resourceVersion != version {
		i.applied[kind.Kind] = applied{desired: desired, resourceVersion: version, since: i.Clock.Now()}
		log.FromContext(ctx).Info("Guard is installed", "kind", kind.Kind, "version", kind.Version, "name", object.GetName())
	}
	return i.startWatching(kind)
}

// stored reports whether the object is watched, and stored as it was applied last.
func (i *Installer) stored(ctx context.Context, desired *unstructured.Unstructured) (bool, error) {
	kind := desired.GroupVersionKind()
	last := i.applied[kind.Kind]
	if last.desired == nil || i.watched[kind.Kind] != kind.Version || !apiequality.Semantic.DeepEqual(last.desired, desired) {
		return false, nil
	}
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(kind)
	err := i.Live.Get(ctx, client.ObjectKeyFromObject(desired), found)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return found.ResourceVersion == last.resourceVersion, nil
}
