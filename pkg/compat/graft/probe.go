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
	"strings"
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
)

const (
	probeTimeout = 5 * time.Second
	maxAnswer    = 1 << 20 // bytes; the question is one small object
)

// question is what the webhook is asked to convert.
type question struct {
	// versions are those of the CRD, the stored one first.
	versions []string
	// spec has a value for each field that the answer must have as well.
	spec map[string]any
}

// questionFor asks for Interlock's fields, and for those of spec that this
// program knows no more of than that they are to be carried over.
func questionFor(crd, properties map[string]any, unknown crdgraft.Unknown) (question, error) {
	versions, err := crdgraft.ActiveVersions(crd)
	if err != nil {
		return question{}, err
	}
	spec := map[string]any{}
	for field, schema := range properties {
		spec[field] = emptyValue(schema)
	}
	for path, schema := range unknown.Carried {
		if field, isSpec := strings.CutPrefix(path, "spec."); isSpec && !strings.ContainsAny(field, ".[") {
			spec[field] = emptyValue(schema)
		}
	}
	return question{versions: versions, spec: spec}, nil
}

func emptyValue(property any) any {
	schema, _ := property.(map[string]any)
	switch schema["type"] {
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	default:
		return ""
	}
}

// prober asks the webhook as the API server would.
type prober struct {
	// address is where it is reached; empty: where its name leads to.
	address string
}

// probe fails unless the webhook converts between the stored version and each
// other one, in both directions, without losing a field of Interlock's.
func (p prober) probe(ctx context.Context, config *apiextensionsv1.WebhookClientConfig, asked question) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	transport, err := p.transport(config.CABundle)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	requests, target := &http.Client{Transport: transport}, locate(config)
	for _, other := range asked.versions[1:] {
		for _, way := range [][2]string{{asked.versions[0], other}, {other, asked.versions[0]}} {
			if err := ask(ctx, requests, target, asked.spec, way[0], way[1]); err != nil {
				return fmt.Errorf("webhook at %s: convert %s to %s: %w", target, way[0], way[1], err)
			}
		}
	}
	return nil
}

// transport trusts nothing but the CA, as the API server does.
func (p prober) transport(authority []byte) (*http.Transport, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("the CA in ValidatingWebhookConfiguration %s is no PEM certificate", ConfigurationName)
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

func locate(config *apiextensionsv1.WebhookClientConfig) string {
	if service := config.Service; service != nil {
		host := service.Name + "." + service.Namespace + ".svc"
		return "https://" + net.JoinHostPort(host, strconv.Itoa(int(ptr.Deref(service.Port, 443)))) + ptr.Deref(service.Path, "")
	}
	return ptr.Deref(config.URL, "")
}

func ask(ctx context.Context, requests *http.Client, target string, spec map[string]any, from, to string) error {
	group := addonv1alpha1.GroupVersion.Group
	review := newReview(schema.GroupVersion{Group: group, Version: to}.String(), map[string]any{
		"apiVersion": schema.GroupVersion{Group: group, Version: from}.String(),
		"kind":       "ClusterManagementAddOn",
		"metadata":   map[string]any{"name": "interlock-probe"},
		"spec":       runtime.DeepCopyJSON(spec),
	})
	answer, err := post(ctx, requests, target, review)
	if err != nil {
		return err
	}
	return check(answer, review.Request, spec)
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

func post(ctx context.Context, requests *http.Client, target string, review any) (*apiextensionsv1.ConversionResponse, error) {
	body, err := json.Marshal(review)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := requests.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	answer := &apiextensionsv1.ConversionReview{}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %s", response.Status)
	}
	if err := json.Unmarshal(content, answer); err != nil || answer.Response == nil {
		return nil, errors.Join(errors.New("its answer is no ConversionReview"), err)
	}
	return answer.Response, nil
}

// check fails for an answer that the API server would refuse, and for one that
// lacks one of Interlock's fields.
func check(answer *apiextensionsv1.ConversionResponse, request *apiextensionsv1.ConversionRequest, spec map[string]any) error {
	if answer.Result.Status != metav1.StatusSuccess {
		return fmt.Errorf("it refuses: %s", answer.Result.Message)
	}
	if answer.UID != request.UID || len(answer.ConvertedObjects) != 1 {
		return fmt.Errorf("it answers with %d objects to request %q, asked was one by %q", len(answer.ConvertedObjects), answer.UID, request.UID)
	}
	converted := &unstructured.Unstructured{}
	if err := converted.UnmarshalJSON(answer.ConvertedObjects[0].Raw); err != nil {
		return err
	}
	if converted.GetAPIVersion() != request.DesiredAPIVersion {
		return fmt.Errorf("it answers in %s", converted.GetAPIVersion())
	}
	kept, _, _ := unstructured.NestedMap(converted.Object, "spec")
	for _, field := range slices.Sorted(maps.Keys(spec)) {
		if !reflect.DeepEqual(kept[field], spec[field]) {
			return fmt.Errorf("it loses spec.%s: is it older than this addon-manager?", field)
		}
	}
	return nil
}
