// Package guard puts the guard in force on the hub, keeps it so, and takes it
// away again.
package guard

import (
	"context"
	"errors"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/guard"
)

// FieldManager is the name under which addon-manager owns the guard's objects.
const FieldManager = "interlock-addon-manager"

// Mode says which form of the guard is in force.
type Mode string

// The modes.
const (
	// ModeAuto is a policy where the API server has that API, else a webhook.
	ModeAuto    Mode = "auto"
	ModePolicy  Mode = "policy"
	ModeWebhook Mode = "webhook"
	// ModeOff removes what was installed before.
	ModeOff Mode = "off"
)

// Modes are all modes, in the order in which help lists them.
var Modes = []Mode{ModeAuto, ModePolicy, ModeWebhook, ModeOff}

var errNotServed = errors.New("the hub does not serve MutatingAdmissionPolicy: " +
	"enable it there (feature gate and API version), or use another form of the guard")

// Installer installs the guard in the form that its mode asks for, and removes
// every other.
type Installer struct {
	Mode Mode
	// Webhook is where the guard is served as a webhook; nil if nowhere.
	Webhook   *admissionregistrationv1.WebhookClientConfig
	Client    client.Client
	Discovery discovery.DiscoveryInterface

	// watch has the controller watch a kind from now on.
	watch   func(schema.GroupVersionKind) error
	watched map[schema.GroupVersionKind]bool
}

// Reconcile brings the hub to what the mode asks for. It looks anew each time
// at what the API server serves, so that a failed try is made good by the next.
func (i *Installer) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	version, err := i.servedVersion()
	if err != nil {
		return reconcile.Result{}, err
	}
	wanted, err := i.wanted(ctx, version)
	if err != nil {
		return reconcile.Result{}, err
	}
	// What is to stay comes first, so that a change of form leaves next to no
	// time without a guard: an API server takes up a policy within a second.
	for _, object := range wanted {
		if err := i.keep(ctx, object); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, i.removeOthers(ctx, version, wanted)
}

// wanted are the objects that are to be there.
func (i *Installer) wanted(ctx context.Context, version string) ([]*unstructured.Unstructured, error) {
	switch {
	case i.Mode == ModeOff:
		return nil, nil
	case i.Mode != ModeWebhook && version != "":
		return guard.Policy(version)
	case i.Mode == ModePolicy:
		return nil, reconcile.TerminalError(errNotServed)
	case i.Webhook == nil:
		log.FromContext(ctx).Error(errNotServed, "Nothing guards Available: no webhook is served either")
		return nil, nil
	}
	object, err := guard.Webhook(*i.Webhook)
	return []*unstructured.Unstructured{object}, err
}

// keep applies an object and watches it, so that it is put back when somebody
// changes or deletes it.
func (i *Installer) keep(ctx context.Context, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	err := i.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(FieldManager), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
	}
	if i.watched[kind] {
		return nil
	}
	if err := i.watch(kind); err != nil {
		return fmt.Errorf("watch %s: %w", kind.Kind, err)
	}
	i.watched[kind] = true
	log.FromContext(ctx).Info("Guard is in force", "kind", kind.Kind, "version", kind.Version, "name", object.GetName())
	return nil
}

// removeOthers deletes the guard's objects of the kinds that are not wanted.
func (i *Installer) removeOthers(ctx context.Context, version string, wanted []*unstructured.Unstructured) error {
	others := map[string]string{guard.KindWebhook: admissionregistrationv1.SchemeGroupVersion.Version}
	if version != "" {
		// The binding first: without it a policy is in force nowhere.
		others[guard.KindBinding], others[guard.KindPolicy] = version, version
	}
	for _, object := range wanted {
		delete(others, object.GetKind())
	}
	for _, kind := range []string{guard.KindBinding, guard.KindPolicy, guard.KindWebhook} {
		if version, there := others[kind]; there {
			if err := i.remove(ctx, schema.GroupVersionKind{Group: guard.Group, Version: version, Kind: kind}); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove deletes the guard's object of a kind if its label says that it is ours.
func (i *Installer) remove(ctx context.Context, kind schema.GroupVersionKind) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	err := i.Client.Get(ctx, client.ObjectKey{Name: guard.Name}, object)
	if apierrors.IsNotFound(err) || err == nil && object.GetLabels()[guard.ManagedByLabel] != guard.ManagedByValue {
		return nil
	}
	if err == nil {
		uid := object.GetUID()
		err = i.Client.Delete(ctx, object, client.Preconditions{UID: &uid})
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove %s %s: %w", kind.Kind, guard.Name, err)
	}
	log.FromContext(ctx).Info("Guard was removed", "kind", kind.Kind, "version", kind.Version, "name", guard.Name)
	return nil
}

// servedVersion is the newest version in which the API server has policies, or
// nothing where it has none.
func (i *Installer) servedVersion() (string, error) {
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		groupVersion := schema.GroupVersion{Group: guard.Group, Version: version}.String()
		resources, err := i.Discovery.ServerResourcesForGroupVersion(groupVersion)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("discover %s: %w", groupVersion, err)
		}
		for _, resource := range resources.APIResources {
			if resource.Kind == guard.KindPolicy {
				return version, nil
			}
		}
	}
	return "", nil
}
