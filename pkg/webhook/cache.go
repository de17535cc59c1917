package webhook

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/informerstop"
	"open-cluster-management.io/interlock/pkg/names"
)

// cacheOptions limit what is cached of registered add-ons and AddOnTemplates, and of Secrets and ConfigMaps to the one
// of each that the webhook may read. Policies are cached as they are: a hub need not serve them, and a cache with
// options for a kind that is not served cannot be made.
func cacheOptions(secret types.NamespacedName) cache.Options {
	only := func(name string) cache.ByObject {
		return cache.ByObject{
			Namespaces: map[string]cache.Config{secret.Namespace: {}},
			Field:      fields.OneTermEqualSelector("metadata.name", name),
		}
	}
	return cache.Options{NewInformer: informerstop.NewInformer, ByObject: map[client.Object]cache.ByObject{
		&addonv1alpha1.ClusterManagementAddOn{}: {Transform: strip, UnsafeDisableDeepCopy: ptr.To(true)},
		&addonv1alpha1.AddOnTemplate{}:          {Transform: stripTemplate, UnsafeDisableDeepCopy: ptr.To(true)},
		&corev1.Secret{}:                        only(secret.Name),
		&corev1.ConfigMap{}:                     only(names.WebhookCA),
	}}
}

// stripTemplate drops what no review reads of an AddOnTemplate.
func stripTemplate(object any) (any, error) {
	if template, ok := object.(*addonv1alpha1.AddOnTemplate); ok {
		return fleet.LeanTemplate(template), nil
	}
	return object, nil
}

// strip drops what no review reads of a registered add-on. Most of that, fleet.SkipUnread does not even receive.
func strip(object any) (any, error) {
	if addOn, ok := object.(*addonv1alpha1.ClusterManagementAddOn); ok {
		addOn.ManagedFields, addOn.Status = nil, ocmv1alpha1.ClusterManagementAddOnStatus{}
		delete(addOn.Annotations, corev1.LastAppliedConfigAnnotation)
	}
	return object, nil
}
