package graft

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/names"
)

var aTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const grace = 10 * time.Minute

// bench is a reconciler on a fake hub with OCM's CRD and a webhook that
// converts. It records events and metrics.
type bench struct {
	*Reconciler
	hub      client.Client
	clock    *clocktesting.FakeClock
	registry *prometheus.Registry
	events   chan string
	// changes counts the reports that the fields of the CRD changed.
	changes int
	// unrecorded is the error of Records. With an error, the CRD may not be given back.
	unrecorded error
	webhook    *httptest.Server
	// respond replaces the webhook's handler. A nil one converts correctly.
	respond http.HandlerFunc
	// fail returns the error of a read or write. If it is nil, all succeed.
	fail func(verb string, object client.Object) error
	// writes counts the writes of the CRD, and leaseWrites the writes of the lease.
	writes, leaseWrites int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	recorder := events.NewFakeRecorder(100)
	b := &bench{clock: clocktesting.NewFakeClock(aTime), registry: prometheus.NewRegistry(), events: recorder.Events}
	b.webhook = httptest.NewTLSServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if b.respond != nil {
			b.respond(writer, request)
			return
		}
		convert(writer, request, nil)
	}))
	t.Cleanup(b.webhook.Close)
	b.hub = fake.NewClientBuilder().WithScheme(scheme).WithObjects(b.configuration()).Build()
	b.Reconciler = &Reconciler{
		Settings: Settings{Enabled: true, Grace: grace}, Client: interceptor.NewClient(b.hub.(client.WithWatch), b.intercepted()),
		Clock: b.clock, Recorder: recorder, Metrics: NewMetrics(b.registry),
		Changed: func() { b.changes++ }, Records: func(context.Context) error { return b.unrecorded },
	}
	var err error
	if b.schemas, err = loadSchemas(); err != nil {
		t.Fatal(err)
	}
	b.prepare()
	b.create(t, stockCRD(t, b.schemas))
	return b
}

func (b *bench) intercepted() interceptor.Funcs {
	errorOf := func(verb string, object client.Object) error {
		if b.fail == nil {
			return nil
		}
		return b.fail(verb, object)
	}
	return interceptor.Funcs{
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := errorOf("get", object); err != nil {
				return err
			}
			return hub.Get(ctx, key, object, options...)
		},
		Update: func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if err := errorOf("update", object); err != nil {
				return err
			}
			if isLease(object) {
				b.leaseWrites++
			} else {
				b.writes++
			}
			return hub.Update(ctx, object, options...)
		},
	}
}

func (b *bench) authority() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.webhook.Certificate().Raw})
}

func (b *bench) configuration() *admissionregistrationv1.ValidatingWebhookConfiguration {
	url := b.webhook.URL + "/validate"
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: endpoint.ConfigurationName},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "a", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: b.authority()},
		}},
	}
}

// stockCRD returns the CRD as an operator of 1.3.1 writes it: the CRD of this program without
// Interlock's fields.
func stockCRD(t *testing.T, shipped schemas) *unstructured.Unstructured {
	t.Helper()
	crd := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(shipped.crd)}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, version := range versions {
		for field := range shipped.properties {
			unstructured.RemoveNestedField(version.(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties", field)
		}
	}
	conversion := map[string]any{"strategy": "Webhook", "webhook": map[string]any{
		"conversionReviewVersions": []any{"v1"},
		"clientConfig":             map[string]any{"url": "https://ocm.example.com/convert", "caBundle": "b2Nt"},
	}}
	if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedMap(crd.Object, conversion, "spec", "conversion"); err != nil {
		t.Fatal(err)
	}
	crd.SetAnnotations(map[string]string{names.OCMVersion: "1.3.1"})
	return crd
}

func (b *bench) create(t *testing.T, object client.Object) {
	t.Helper()
	if err := b.hub.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) crd(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	crd, err := readCRD(t.Context(), b.hub)
	if err != nil {
		t.Fatal(err)
	}
	return crd
}

// overwrite writes the CRD like a writer that does not know the graft.
func (b *bench) overwrite(t *testing.T, change ...func(*unstructured.Unstructured)) {
	t.Helper()
	crd := stockCRD(t, b.schemas)
	for _, apply := range change {
		apply(crd)
	}
	crd.SetResourceVersion(b.crd(t).GetResourceVersion())
	if err := b.hub.Update(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) reconcile(t *testing.T) (reconcile.Result, error) {
	t.Helper()
	return b.Reconcile(t.Context(), reconcile.Request{})
}

// expect reconciles once and compares the resulting CRD.
func (b *bench) expect(t *testing.T, reason Reason, grafted bool) reconcile.Result {
	t.Helper()
	result, err := b.reconcile(t)
	if err != nil {
		t.Fatal(err)
	}
	b.expectState(t, reason, grafted)
	if got := crdgraft.Grafted(b.crd(t).Object); got != grafted && reason != ReasonNative {
		t.Errorf("grafted: %t", got)
	}
	return result
}

func (b *bench) expectState(t *testing.T, reason Reason, grafted bool) {
	t.Helper()
	state, value := "", 0.0
	for _, metric := range b.gather(t, NameGrafted) {
		state += metric.GetLabel()[0].GetValue()
		value += metric.GetGauge().GetValue()
	}
	if state != string(reason) || (value == 1) != grafted {
		t.Errorf("metric says %s %v, want %s %t", state, value, reason, grafted)
	}
}

func (b *bench) contested(t *testing.T) float64 {
	t.Helper()
	return b.gather(t, NameContested)[0].GetCounter().GetValue()
}

func (b *bench) gather(t *testing.T, name string) []*dto.Metric {
	t.Helper()
	families, err := b.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()
		}
	}
	return nil
}

// emitted returns the events since the last call.
func (b *bench) emitted() []string {
	var emitted []string
	for {
		select {
		case event := <-b.events:
			emitted = append(emitted, event)
		default:
			return emitted
		}
	}
}

// convert responds like a webhook that keeps all fields. change alters the response.
func convert(
	writer http.ResponseWriter,
	request *http.Request,
	change func(object map[string]any, response *apiextensionsv1.ConversionResponse),
) {
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(request.Body).Decode(review); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	object := map[string]any{}
	_ = json.Unmarshal(review.Request.Objects[0].Raw, &object)
	object["apiVersion"] = review.Request.DesiredAPIVersion
	if change != nil {
		change(object, review.Response)
	}
	raw, _ := json.Marshal(object)
	if review.Response.ConvertedObjects == nil {
		review.Response.ConvertedObjects = []runtime.RawExtension{{Raw: raw}}
	}
	_ = json.NewEncoder(writer).Encode(review)
}

// failToConvert registers an add-on that the API server cannot convert, with its error.
func (b *bench) failToConvert(t *testing.T, message string) {
	t.Helper()
	addOn := &unstructured.Unstructured{}
	addOn.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
	addOn.SetKind("ClusterManagementAddOn")
	addOn.SetName("x")
	b.create(t, addOn)
	b.fail = func(verb string, object client.Object) error {
		if verb == "get" && object.GetObjectKind().GroupVersionKind().Version == "v1beta1" {
			return apierrors.NewInternalError(errors.New(message))
		}
		return nil
	}
}
