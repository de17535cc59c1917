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
	"open-cluster-management.io/interlock/pkg/kube/informerstop"
	"open-cluster-management.io/interlock/pkg/names"
)

// cacheOptions returns the options of the cache. It keeps only the fields of registered add-ons and AddOnTemplates that reviews read,
// and only the one Secret and the one ConfigMap that the webhook may read. Policies have no options: a hub need not serve them, and a
// cache with options for an unserved kind cannot be made.
func cacheOptions(secret types.NamespacedName) cache.Options {
	selectName := func(name string) cache.ByObject {
		return cache.ByObject{
			Namespaces: map[string]cache.Config{secret.Namespace: {}},
			Field:      fields.OneTermEqualSelector("metadata.name", name),
		}
	}
	return cache.Options{NewInformer: informerstop.NewInformer, ByObject: map[client.Object]cache.ByObject{
		&addonv1alpha1.ClusterManagementAddOn{}: {Transform: strip, UnsafeDisableDeepCopy: ptr.To(true)},
		&addonv1alpha1.AddOnTemplate{}:          {Transform: stripTemplate, UnsafeDisableDeepCopy: ptr.To(true)},
		&corev1.Secret{}:                        selectName(secret.Name),
		&corev1.ConfigMap{}:                     selectName(names.WebhookCA),
	}}
}

// stripTemplate drops the fields of an AddOnTemplate that no review reads.
func stripTemplate(object any) (any, error) {
	if template, ok := object.(*addonv1alpha1.AddOnTemplate); ok {
		return fleet.LeanTemplate(template), nil
	}
	return object, nil
}

// strip drops the fields of a registered add-on that no review reads. Because of fleet.SkipUnread, most of them are not even received.
func strip(object any) (any, error) {
	if addOn, ok := object.(*addonv1alpha1.ClusterManagementAddOn); ok {
		addOn.ManagedFields, addOn.Status = nil, ocmv1alpha1.ClusterManagementAddOnStatus{}
		delete(addOn.Annotations, corev1.LastAppliedConfigAnnotation)
	}
	return object, nil
}
