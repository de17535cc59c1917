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

// cacheOptions limit the cache to the one Secret and the one configuration that
// the webhook may read.
func cacheOptions(secret types.NamespacedName) cache.Options {
	return cache.Options{NewInformer: informerstop.NewInformer, ByObject: map[client.Object]cache.ByObject{
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: {
			Field: fields.OneTermEqualSelector("metadata.name", ConfigurationName),
		},
		&corev1.Secret{}: {
			Namespaces: map[string]cache.Config{secret.Namespace: {}},
			Field:      fields.OneTermEqualSelector("metadata.name", secret.Name),
		},
	}}
}
