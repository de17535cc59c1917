package webhook

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/informerstop"
)

// cacheOptions limit the cache to the one Secret and the two configurations that
// the webhook may read.
func cacheOptions(secret types.NamespacedName) cache.Options {
	configuration := cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", ConfigurationName)}
	return cache.Options{NewInformer: informerstop.NewInformer, ByObject: map[client.Object]cache.ByObject{
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: configuration,
		&admissionregistrationv1.MutatingWebhookConfiguration{}:   configuration,
		&corev1.Secret{}: {
			Namespaces: map[string]cache.Config{secret.Namespace: {}},
			Field:      fields.OneTermEqualSelector("metadata.name", secret.Name),
		},
	}}
}
