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

// conversionPath is the path at which the webhook serves conversion.
const conversionPath = "/convert"

// readWebhook returns the address and the CA of the webhook.
func readWebhook(ctx context.Context, reader client.Reader) (*apiextensionsv1.WebhookClientConfig, error) {
	config, err := endpoint.Find(ctx, reader, endpoint.ConfigurationName, conversionPath)
	if err != nil {
		return nil, err
	}
	if len(config.CABundle) == 0 { // a URL may have no CA: the API server may trust it by its own CAs
		return nil, fmt.Errorf("ValidatingWebhookConfiguration %s has no CA yet: does addon-manager webhook run?", endpoint.ConfigurationName)
	}
	return forCRD(config), nil
}

// forCRD returns the client configuration in the type of CRDs.
func forCRD(original *admissionregistrationv1.WebhookClientConfig) *apiextensionsv1.WebhookClientConfig {
	config := &apiextensionsv1.WebhookClientConfig{URL: original.URL, CABundle: original.CABundle}
	if service := original.Service; service != nil {
		config.Service = &apiextensionsv1.ServiceReference{
			Namespace: service.Namespace, Name: service.Name, Path: service.Path, Port: ptr.To(ptr.Deref(service.Port, 443)),
		}
	}
	return config
}

// trusted returns the CA in the CRD, if its conversion points to the webhook.
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

// caOverlap is the time for which a replaced CA is still trusted, because replicas do not
// load a new certificate at the same moment.
const caOverlap = 10 * time.Minute

// overlap returns the current CA bundle. During caOverlap, it also has the certificates of the
// former bundle.
func (r *Reconciler) overlap(current, former []byte) []byte {
	combined := union(current, former)
	if bytes.Equal(combined, current) {
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
		return former // it has the same certificates in another order, so the CRD need not change
	}
	return combined
}

// union returns the first bundle, followed by the certificates that are only in the second
// one.
func union(first, second []byte) []byte {
	added := map[string]bool{}
	for block, rest := pem.Decode(first); block != nil; block, rest = pem.Decode(rest) {
		added[string(block.Bytes)] = true
	}
	combined := bytes.Clone(first)
	for block, rest := pem.Decode(second); block != nil; block, rest = pem.Decode(rest) {
		if !added[string(block.Bytes)] {
			added[string(block.Bytes)] = true
			combined = append(append(bytes.TrimRight(combined, "\n"), '\n'), pem.EncodeToMemory(block)...)
		}
	}
	return combined
}
