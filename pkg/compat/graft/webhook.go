package graft

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"net/url"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// ConfigurationName names the ValidatingWebhookConfiguration that says
	// where Interlock's webhook is and holds its CA.
	ConfigurationName = "interlock-webhook"
	// conversionPath is where the webhook serves conversion.
	conversionPath = "/convert"
)

// readWebhook takes from the webhook's configuration where it is and which CA
// it is trusted by: whoever renews certificates writes the CA there and
// nowhere else.
func readWebhook(ctx context.Context, reader client.Reader) (*apiextensionsv1.WebhookClientConfig, error) {
	raw := &unstructured.Unstructured{}
	raw.SetGroupVersionKind(admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingWebhookConfiguration"))
	if err := reader.Get(ctx, client.ObjectKey{Name: ConfigurationName}, raw); err != nil {
		return nil, fmt.Errorf("find the webhook: %w", err)
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw.Object, configuration); err != nil {
		return nil, fmt.Errorf("read ValidatingWebhookConfiguration %s: %w", ConfigurationName, err)
	}
	if len(configuration.Webhooks) == 0 {
		return nil, fmt.Errorf("ValidatingWebhookConfiguration %s has no webhooks: apply it as it is in deploy/hub", ConfigurationName)
	}
	admission := configuration.Webhooks[0].ClientConfig
	if len(admission.CABundle) == 0 {
		return nil, fmt.Errorf("ValidatingWebhookConfiguration %s has no CA yet: does addon-manager webhook run?", ConfigurationName)
	}
	return forConversion(admission)
}

// forConversion is the same webhook at the path where it converts.
func forConversion(admission admissionregistrationv1.WebhookClientConfig) (*apiextensionsv1.WebhookClientConfig, error) {
	config := &apiextensionsv1.WebhookClientConfig{CABundle: admission.CABundle}
	if service := admission.Service; service != nil {
		config.Service = &apiextensionsv1.ServiceReference{
			Namespace: service.Namespace, Name: service.Name,
			Path: ptr.To(conversionPath), Port: ptr.To(ptr.Deref(service.Port, 443)),
		}
		return config, nil
	}
	address, err := url.Parse(ptr.Deref(admission.URL, ""))
	if err != nil {
		return nil, fmt.Errorf("ValidatingWebhookConfiguration %s: %w", ConfigurationName, err)
	}
	address.Path = conversionPath
	config.URL = ptr.To(address.String())
	return config, nil
}

// trusted is the CA of a graft that points to the same webhook.
func trusted(crd *unstructured.Unstructured, config *apiextensionsv1.WebhookClientConfig) []byte {
	conversion := &apiextensionsv1.CustomResourceConversion{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(conversionOf(crd.Object), conversion)
	if err != nil || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil {
		return nil
	}
	present := conversion.Webhook.ClientConfig
	if !sameService(present.Service, config.Service) || !ptr.Equal(present.URL, config.URL) {
		return nil
	}
	return present.CABundle
}

func sameService(a, b *apiextensionsv1.ServiceReference) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Namespace == b.Namespace && a.Name == b.Name && ptr.Equal(a.Path, b.Path) && ptr.Equal(a.Port, b.Port)
}

// overlapOfCAs is how long a replaced CA is still trusted: replicas take up a
// new certificate at moments of their own.
const overlapOfCAs = 10 * time.Minute

// overlap returns the current CA bundle, and for a while those certificates of
// the former one that it lacks.
func (r *Reconciler) overlap(current, former []byte) []byte {
	both := union(current, former)
	if bytes.Equal(both, current) {
		r.history.caChanged = time.Time{}
		return current
	}
	now := r.Clock.Now()
	if r.history.caChanged.IsZero() {
		r.history.caChanged = now
	}
	if now.Sub(r.history.caChanged) >= overlapOfCAs {
		return current
	}
	if bytes.Equal(union(former, current), former) {
		return former // all of them, in another order: no reason to write a CRD
	}
	return both
}

// union is the first bundle, followed by those certificates of the second
// that it lacks.
func union(first, second []byte) []byte {
	known := map[string]bool{}
	for block, rest := pem.Decode(first); block != nil; block, rest = pem.Decode(rest) {
		known[string(block.Bytes)] = true
	}
	both := bytes.Clone(first)
	for block, rest := pem.Decode(second); block != nil; block, rest = pem.Decode(rest) {
		if !known[string(block.Bytes)] {
			known[string(block.Bytes)] = true
			both = append(append(bytes.TrimRight(both, "\n"), '\n'), pem.EncodeToMemory(block)...)
		}
	}
	return both
}
