package installer

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/compat/guard"
)

// Remove takes the guard away from a hub in whatever form it is there; what
// bears its name but not its label stays. Nothing there is no error.
func Remove(ctx context.Context, hub client.Client, served discovery.ServerResourcesInterface) error {
	version, err := servedVersion(served)
	if err != nil {
		return err
	}
	return removeKinds(ctx, hub, version, guard.KindBinding, guard.KindPolicy, guard.KindWebhook)
}

// removeOthers deletes the guard's objects of the forms that are not wanted.
func (i *Installer) removeOthers(ctx context.Context, version string, policy, webhook finding) error {
	var kinds []string
	if policy.standing == unwanted {
		// The binding first: without it a policy is in force nowhere.
		kinds = append(kinds, guard.KindBinding, guard.KindPolicy)
	}
	if webhook.standing == unwanted {
		kinds = append(kinds, guard.KindWebhook)
	}
	return removeKinds(ctx, i.Client, version, kinds...)
}

func removeKinds(ctx context.Context, hub client.Client, version string, kinds ...string) error {
	for _, kind := range kinds {
		of := schema.GroupVersionKind{Group: guard.Group, Version: version, Kind: kind}
		if kind == guard.KindWebhook {
			of.Version = admissionregistrationv1.SchemeGroupVersion.Version
		}
		if of.Version == "" {
			continue // not served: nothing of it is in force
		}
		if err := remove(ctx, hub, of); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the guard's object of a kind if its label says that it is ours.
func remove(ctx context.Context, hub client.Client, kind schema.GroupVersionKind) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	err := hub.Get(ctx, client.ObjectKey{Name: guard.Name}, object)
	if apierrors.IsNotFound(err) || err == nil && object.GetLabels()[guard.ManagedByLabel] != guard.ManagedByValue {
		return nil
	}
	if err == nil {
		uid := object.GetUID()
		err = hub.Delete(ctx, object, client.Preconditions{UID: &uid})
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove %s %s: %w", kind.Kind, guard.Name, err)
	}
	log.FromContext(ctx).Info("Guard was removed", "kind", kind.Kind, "version", kind.Version, "name", guard.Name)
	return nil
}

// servedVersion is the newest version in which the API server has policies, or
// nothing where it has none.
func servedVersion(served discovery.ServerResourcesInterface) (string, error) {
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		groupVersion := schema.GroupVersion{Group: guard.Group, Version: version}.String()
		resources, err := served.ServerResourcesForGroupVersion(groupVersion)
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
