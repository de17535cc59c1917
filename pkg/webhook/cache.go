package webhook

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/informerstop"
)

// cacheOptions keep of the hub the one Secret and the one configuration, the
// only ones that may be read, and of registrations what they declare.
func cacheOptions(secret types.NamespacedName) cache.Options {
	return cache.Options{NewInformer: informerstop.NewInformer, ByObject: map[client.Object]cache.ByObject{
		&addonv1alpha1.ClusterManagementAddOn{}: {Transform: declarationOnly},
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: {
			Field: fields.OneTermEqualSelector("metadata.name", ConfigurationName),
		},
		&corev1.Secret{}: {
			Namespaces: map[string]cache.Config{secret.Namespace: {}},
			Field:      fields.OneTermEqualSelector("metadata.name", secret.Name),
		},
	}}
}

func declarationOnly(object any) (any, error) {
	full, ok := object.(*addonv1alpha1.ClusterManagementAddOn)
	if !ok {
		return object, nil
	}
	lean := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{
		Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion,
	}}
	lean.Spec.Dependencies = full.Spec.Dependencies
	lean.Spec.Requirements, lean.Spec.Provides = full.Spec.Requirements, full.Spec.Provides
	if annotation, ok := full.Annotations[addonv1alpha1.DependenciesAnnotation]; ok {
		lean.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: annotation}
	}
	return lean, nil
}
