package installer

import (
	"context"
	"fmt"
	"net/url"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// validatingKind is the kind of the configuration that tells where webhooks are served.
var validatingKind = schema.GroupVersionKind{
	Group: admissionregistrationv1.GroupName, Version: admissionregistrationv1.SchemeGroupVersion.Version,
	Kind: "ValidatingWebhookConfiguration",
}

// Served says how to find out where the guard is served: by the same server,
// with the same CA, as the webhooks of the named ValidatingWebhookConfiguration.
// Whoever deploys it there says so there, and whoever renews its certificate
// keeps one CA current, from which ours is taken.
type Served struct {
	Configuration string
	// Path is that of the guard on the server.
	Path string
}

// place is where the guard is served, or else why that is not known.
func (s Served) place(ctx context.Context, hub client.Reader) (*admissionregistrationv1.WebhookClientConfig, string, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(validatingKind)
	err := hub.Get(ctx, client.ObjectKey{Name: s.Configuration}, object)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Sprintf("addon-manager webhook is not deployed: there is no %s %s", validatingKind.Kind, s.Configuration), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("look where webhooks are served: %w", err)
	}
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &configuration); err != nil {
		return nil, "", fmt.Errorf("read %s %s: %w", validatingKind.Kind, s.Configuration, err)
	}
	for _, webhook := range configuration.Webhooks {
		if place, err := s.beside(webhook.ClientConfig); err == nil && place != nil {
			return place, "", nil
		}
	}
	return nil, fmt.Sprintf("%s %s names no Service with a CA yet: addon-manager webhook has not run", validatingKind.Kind, s.Configuration), nil
}

// beside is the guard's place on the server that serves another webhook. A
// Service without a CA is one that nobody has started yet.
func (s Served) beside(other admissionregistrationv1.WebhookClientConfig) (*admissionregistrationv1.WebhookClientConfig, error) {
	place := other.DeepCopy()
	switch {
	case other.Service != nil && len(other.CABundle) > 0:
		place.Service.Path = ptr.To(s.Path)
	case other.URL != nil:
		address, err := url.Parse(*other.URL)
		if err != nil {
			return nil, err
		}
		address.Path, address.RawQuery = s.Path, "" // an API server allows no query
		place.URL = ptr.To(address.String())
	default:
		return nil, nil
	}
	return place, nil
}
