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

	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/pkg/names"
)

// Remove deletes the rule in every form. It keeps objects with the rule's name and without its
// label. An absent rule is no error.
func Remove(ctx context.Context, installed *rule.Rule, hub client.Client, served discovery.ServerResourcesInterface) error {
	version, err := servedVersion(served)
	if err != nil {
		return err
	}
	return removeKinds(ctx, installed, hub, version, rule.KindBinding, rule.KindPolicy, rule.KindWebhook)
}

// removeNotWanted deletes the objects of the forms that are not wanted. If the mode
// selects a form, the other form stays while the selected form is installed and not in force.
func (i *Installer) removeNotWanted(ctx context.Context, version string, policy, webhook status) error {
	var kinds []string
	if policy.phase == notWanted && webhook.final() {
		// The binding comes first: a policy without a binding has no effect.
		kinds = append(kinds, rule.KindBinding, rule.KindPolicy)
	}
	if webhook.phase == notWanted && (i.Mode == ModeAuto || policy.final()) {
		kinds = append(kinds, rule.KindWebhook)
	}
	return removeKinds(ctx, i.Rule, i.Client, version, kinds...)
}

func removeKinds(ctx context.Context, installed *rule.Rule, hub client.Client, version string, kinds ...string) error {
	for _, kind := range kinds {
		object := schema.GroupVersionKind{Group: rule.Group, Version: version, Kind: kind}
		if kind == rule.KindWebhook {
			object.Version = admissionregistrationv1.SchemeGroupVersion.Version
		}
		if object.Version == "" {
			continue // not served, so not in force
		}
		if err := remove(ctx, installed, hub, object); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the rule's object of a kind if it has Interlock's label.
func remove(ctx context.Context, installed *rule.Rule, hub client.Client, kind schema.GroupVersionKind) error {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	err := hub.Get(ctx, client.ObjectKey{Name: installed.Name}, object)
	if apierrors.IsNotFound(err) || err == nil && object.GetLabels()[names.ManagedBy] != names.AddonManager {
		return nil
	}
	if err == nil {
		uid := object.GetUID()
		err = hub.Delete(ctx, object, client.Preconditions{UID: &uid})
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove %s %s: %w", kind.Kind, installed.Name, err)
	}
	log.FromContext(ctx).Info("Removed the rule", "kind", kind.Kind, "version", kind.Version, "name", installed.Name)
	return nil
}

// servedVersion returns the newest version in which the API server serves
// policies. It returns an empty string if there is none.
func servedVersion(served discovery.ServerResourcesInterface) (string, error) {
	for _, version := range []string{"v1", "v1beta1", "v1alpha1"} {
		groupVersion := schema.GroupVersion{Group: rule.Group, Version: version}.String()
		resources, err := served.ServerResourcesForGroupVersion(groupVersion)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("discover %s: %w", groupVersion, err)
		}
		for _, resource := range resources.APIResources {
			if resource.Kind == rule.KindPolicy {
				return version, nil
			}
		}
	}
	return "", nil
}
