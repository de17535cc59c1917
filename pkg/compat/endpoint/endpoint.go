// Package endpoint finds the address of `addon-manager webhook`. The graft and
// the guard both point the API server to it. It is needed as long as they are.
package endpoint

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConfigurationName is the name of both webhook configurations of deploy/hub. The
// ValidatingWebhookConfiguration has the address of the webhook, and its CA.
// pkg/hub/setup/webhookca or cert-manager writes the CA.
const ConfigurationName = "interlock-webhook"

// Kind is the kind of that configuration.
var Kind = admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration")

// ErrNotDeployed means that the configuration is absent, or has no webhook with a CA.
var ErrNotDeployed = errors.New("addon-manager webhook")

// Find returns the client configuration for a path on the server of the webhooks in a
// ValidatingWebhookConfiguration.
func Find(ctx context.Context, hub client.Reader, configuration, path string) (*admissionregistrationv1.WebhookClientConfig, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(Kind)
	err := hub.Get(ctx, client.ObjectKey{Name: configuration}, object)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w is not deployed: there is no %s %s", ErrNotDeployed, Kind.Kind, configuration)
	}
	if err != nil {
		return nil, fmt.Errorf("find where webhooks are served: %w", err)
	}
	webhooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, webhooks); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", Kind.Kind, configuration, err)
	}
	if len(webhooks.Webhooks) == 0 {
		return nil, fmt.Errorf("%w is not deployed: %s %s has no webhooks, apply it as it is in deploy/hub",
			ErrNotDeployed, Kind.Kind, configuration)
	}
	for _, webhook := range webhooks.Webhooks {
		if config, err := withPath(webhook.ClientConfig, path); err == nil && config != nil {
			return config, nil
		}
	}
	return nil, fmt.Errorf("%w has not run: %s %s has no CA yet", ErrNotDeployed, Kind.Kind, configuration)
}

// withPath returns the client configuration for another path on the same
// server. It returns nil for a Service without a CA: its webhook has not run yet.
func withPath(original admissionregistrationv1.WebhookClientConfig, path string) (*admissionregistrationv1.WebhookClientConfig, error) {
	config := original.DeepCopy()
	switch {
	case original.Service != nil && len(original.CABundle) > 0:
		config.Service.Path = ptr.To(path)
	case original.URL != nil:
		address, err := url.Parse(*original.URL)
		if err != nil {
			return nil, err
		}
		address.Path, address.RawQuery = path, "" // an API server accepts no query
		config.URL = ptr.To(address.String())
	default:
		return nil, nil
	}
	return config, nil
}
