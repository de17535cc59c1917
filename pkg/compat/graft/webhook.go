package graft

import (
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
)

// conversionPath is where the webhook serves conversion.
const conversionPath = "/convert"

// readWebhook returns where the webhook converts, and the CA to trust.
func readWebhook(ctx context.Context, reader client.Reader) (*apiextensionsv1.WebhookClientConfig, error) {
	found, err := endpoint.Find(ctx, reader, endpoint.ConfigurationName, conversionPath)
	if err != nil {
		return nil, err
	}
	if len(found.CABundle) == 0 { // for a URL, which the API server may trust without
		return nil, fmt.Errorf("ValidatingWebhookConfiguration %s has no CA yet: does addon-manager webhook run?", endpoint.ConfigurationName)
	}
	return forCRD(found), nil
}

// forCRD returns the same configuration as a CRD has it.
func forCRD(found *admissionregistrationv1.WebhookClientConfig) *apiextensionsv1.WebhookClientConfig {
	config := &apiextensionsv1.WebhookClientConfig{URL: found.URL, CABundle: found.CABundle}
	if service := found.Service; service != nil {
		config.Service = &apiextensionsv1.ServiceReference{
			Namespace: service.Namespace, Name: service.Name, Path: service.Path, Port: ptr.To(ptr.Deref(service.Port, 443)),
		}
	}
	return config
}

// trusted returns the CA of a CRD whose conversion points to the same webhook.
func trusted(crd *unstructured.Unstructured, config *apiextensionsv1.WebhookClientConfig) []byte {
	conversion := &apiextensionsv1.CustomResourceConversion{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(conversionOf(crd.Object), conversion)
	if err != nil || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil {
		return nil
	}
	present := conversion.Webhook.ClientConfig
	if !equality.Semantic.DeepEqual(present.Service, config.Service) || !ptr.Equal(present.URL, config.URL) {
		return nil
	}
	return present.CABundle
}

// caOverlap is how long a replaced CA is still trusted, because replicas do not
// load a new certificate at the same moment.
const caOverlap = 10 * time.Minute

// overlap returns the current CA bundle. For the time of caOverlap, certificates
// that only the former bundle has follow.
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
	if now.Sub(r.history.caChanged) >= caOverlap {
		return current
	}
	if bytes.Equal(union(former, current), former) {
		return former // the same certificates in another order: the CRD stays
	}
	return both
}

// union returns the first bundle, followed by the certificates that only the
// second has.
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
