package graft

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/compat/endpoint"
)

const (
	probeTimeout = 5 * time.Second
	maxResponse  = 1 << 20 // in bytes: a probe is a small object
)

// probe is a conversion that the webhook must do without a loss before the CRD
// may point to it.
type probe struct {
	// versions has the versions of the CRD. The stored version comes first.
	versions []string
	// spec has a value for each field that the response must keep.
	spec map[string]any
}

// newProbe returns a probe for Interlock's fields.
func newProbe(crd, properties map[string]any) (probe, error) {
	versions, err := crdgraft.ActiveVersions(crd)
	if err != nil {
		return probe{}, err
	}
	spec := map[string]any{}
	for field := range properties {
		spec[field] = "kept" // a conversion copies the fields without reading them
	}
	return probe{versions: versions, spec: spec}, nil
}

// prober sends requests to the webhook like the API server.
type prober struct {
	// address is the address to connect to. If it is empty, the webhook's host name is used.
	address string
}

// run returns an error unless the webhook converts between the stored version and each
// of the others, in both directions, and keeps all fields of the probe.
func (p prober) run(ctx context.Context, config *apiextensionsv1.WebhookClientConfig, probe probe) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	transport, err := p.transport(config.CABundle)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	requests, url := &http.Client{Transport: transport}, urlOf(config)
	stored := probe.versions[0]
	for _, version := range probe.versions[1:] {
		for _, conversion := range [][2]string{{stored, version}, {version, stored}} {
			source, target := conversion[0], conversion[1]
			if err := checkConversion(ctx, requests, url, probe.spec, source, target); err != nil {
				return fmt.Errorf("webhook at %s: convert %s to %s: %w", url, source, target, err)
			}
		}
	}
	return nil
}

// transport returns a transport that trusts only the CA, like the API server.
func (p prober) transport(authority []byte) (*http.Transport, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("the CA in ValidatingWebhookConfiguration %s is not a PEM certificate", endpoint.ConfigurationName)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	if p.address != "" {
		dialer := &net.Dialer{}
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, p.address)
		}
	}
	return transport, nil
}

func urlOf(config *apiextensionsv1.WebhookClientConfig) string {
	if service := config.Service; service != nil {
		host := service.Name + "." + service.Namespace + ".svc"
		return "https://" + net.JoinHostPort(host, strconv.Itoa(int(ptr.Deref(service.Port, 443)))) + ptr.Deref(service.Path, "")
	}
	return ptr.Deref(config.URL, "")
}

func checkConversion(ctx context.Context, requests *http.Client, url string, spec map[string]any, source, target string) error {
	group := addonv1alpha1.GroupVersion.Group
	review := newReview(schema.GroupVersion{Group: group, Version: target}.String(), map[string]any{
		"apiVersion": schema.GroupVersion{Group: group, Version: source}.String(),
		"kind":       "ClusterManagementAddOn",
		"metadata":   map[string]any{"name": "interlock-probe"},
		"spec":       runtime.DeepCopyJSON(spec),
	})
	response, err := post(ctx, requests, url, review)
	if err != nil {
		return err
	}
	return check(response, review.Request, spec)
}

func newReview(desired string, object map[string]any) *apiextensionsv1.ConversionReview {
	return &apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "ConversionReview"},
		Request: &apiextensionsv1.ConversionRequest{
			UID: uuid.NewUUID(), DesiredAPIVersion: desired,
			Objects: []runtime.RawExtension{{Object: &unstructured.Unstructured{Object: object}}},
		},
	}
}

func post(ctx context.Context, requests *http.Client, url string, review any) (*apiextensionsv1.ConversionResponse, error) {
	body, err := json.Marshal(review)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := requests.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the response is %s", response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return nil, err
	}
	converted := &apiextensionsv1.ConversionReview{}
	if err := json.Unmarshal(content, converted); err != nil || converted.Response == nil {
		return nil, errors.Join(errors.New("the response is not a ConversionReview"), err)
	}
	return converted.Response, nil
}

// check returns an error for a response that the API server would reject, or that
// lacks a field of the probe.
func check(response *apiextensionsv1.ConversionResponse, request *apiextensionsv1.ConversionRequest, spec map[string]any) error {
	if response.Result.Status != metav1.StatusSuccess {
		return fmt.Errorf("the webhook refuses: %s", response.Result.Message)
	}
	if response.UID != request.UID {
		return fmt.Errorf("the response is to request %q, not to %q", response.UID, request.UID)
	}
	if len(response.ConvertedObjects) != 1 {
		return fmt.Errorf("the response has %d objects, the request has 1", len(response.ConvertedObjects))
	}
	converted := &unstructured.Unstructured{}
	if err := converted.UnmarshalJSON(response.ConvertedObjects[0].Raw); err != nil {
		return err
	}
	if converted.GetAPIVersion() != request.DesiredAPIVersion {
		return fmt.Errorf("the response has version %s", converted.GetAPIVersion())
	}
	kept, _, _ := unstructured.NestedMap(converted.Object, "spec")
	for _, field := range slices.Sorted(maps.Keys(spec)) {
		if !reflect.DeepEqual(kept[field], spec[field]) {
			return fmt.Errorf("the response lacks spec.%s: is the webhook older than this addon-manager?", field)
		}
	}
	return nil
}
