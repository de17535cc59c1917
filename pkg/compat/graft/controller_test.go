package graft

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/names"
)

func bare(crd *unstructured.Unstructured) map[string]any {
	crd.SetResourceVersion("")
	return crd.Object
}

func TestGraftsAndGivesBack(t *testing.T) {
	b := newBench(t)
	original := bare(b.crd(t))
	if wait := b.expect(t, ReasonGrafted, true).RequeueAfter; wait != defaultInterval {
		t.Errorf("conversion is checked again after %s", wait)
	}
	if emitted := b.emitted(); len(emitted) != 1 || !strings.HasPrefix(emitted[0], "Normal CRDGrafted Added v1alpha1 spec.dependencies") {
		t.Errorf("emitted %q", emitted)
	}
	for range 3 {
		b.expect(t, ReasonGrafted, true)
	}
	if emitted := b.emitted(); b.writes != 1 || len(emitted) > 0 {
		t.Errorf("%d writes, emitted %q", b.writes, emitted)
	}

	b.Settings.Enabled = false
	b.expect(t, ReasonOff, false)
	if diff := cmp.Diff(original, bare(b.crd(t))); diff != "" {
		t.Errorf("given back (-found +now):\n%s", diff)
	}
	if emitted := b.emitted(); len(emitted) != 1 || !strings.HasPrefix(emitted[0], "Normal CRDGraftingOff") {
		t.Errorf("emitted %q", emitted)
	}
	b.expect(t, ReasonOff, false)
	if emitted := b.emitted(); b.writes != 2 || len(emitted) > 0 {
		t.Errorf("%d writes, emitted %q", b.writes, emitted)
	}
}

func TestOffEmitsNothingWithoutAGraft(t *testing.T) {
	b := newBench(t)
	b.Settings.Enabled = false
	b.expect(t, ReasonOff, false)
	if emitted := b.emitted(); b.writes != 0 || len(emitted) > 0 {
		t.Errorf("%d writes, emitted %q", b.writes, emitted)
	}
}

func TestDoesNotGraftWhatIsNotServed(t *testing.T) {
	for name, tt := range map[string]struct {
		respond   http.HandlerFunc
		configure func(*admissionregistrationv1.ValidatingWebhookConfiguration)
		want      string
	}{
		"a failing webhook": {
			respond: func(writer http.ResponseWriter, _ *http.Request) {
				http.Error(writer, "no", http.StatusServiceUnavailable)
			},
			want: "convert v1alpha1 to v1beta1: the response is 503 Service Unavailable",
		},
		"another program that responds": {
			respond: func(writer http.ResponseWriter, _ *http.Request) { _, _ = writer.Write([]byte("{}")) },
			want:    "the response is not a ConversionReview",
		},
		"a webhook that refuses": {
			respond: changed(func(_ map[string]any, response *apiextensionsv1.ConversionResponse) {
				response.Result.Status, response.Result.Message = "Failure", "too old"
			}),
			want: "the webhook refuses: too old",
		},
		"a webhook that loses fields": {
			respond: changed(func(object map[string]any, _ *apiextensionsv1.ConversionResponse) { delete(object, "spec") }),
			want:    "the response lacks spec.dependencies: is the webhook older than this addon-manager?",
		},
		"a webhook that does not convert": {
			respond: changed(func(object map[string]any, _ *apiextensionsv1.ConversionResponse) { object["apiVersion"] = "addon/v0" }),
			want:    "the response has version addon/v0",
		},
		"a response to another request": {
			respond: changed(func(_ map[string]any, response *apiextensionsv1.ConversionResponse) { response.UID = "other" }),
			want:    `the response is to request "other", not to "`,
		},
		"no CA yet": {
			configure: func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
				c.Webhooks[0].ClientConfig.CABundle = nil
			},
			want: "ValidatingWebhookConfiguration interlock-webhook has no CA yet: does addon-manager webhook run?",
		},
		"a CA that is none": {
			configure: func(c *admissionregistrationv1.ValidatingWebhookConfiguration) {
				c.Webhooks[0].ClientConfig.CABundle = []byte("x")
			},
			want: "is not a PEM certificate",
		},
		"no webhook in the configuration": {
			configure: func(c *admissionregistrationv1.ValidatingWebhookConfiguration) { c.Webhooks = nil },
			want:      "has no webhooks, apply it as it is in deploy/hub",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.respond = tt.respond
			if tt.configure != nil {
				configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
				if err := b.hub.Get(t.Context(), client.ObjectKey{Name: endpoint.ConfigurationName}, configuration); err != nil {
					t.Fatal(err)
				}
				tt.configure(configuration)
				if err := b.hub.Update(t.Context(), configuration); err != nil {
					t.Fatal(err)
				}
			}
			if wait := b.expect(t, ReasonNotServed, false).RequeueAfter; wait != retryInterval {
				t.Errorf("tried again after %s", wait)
			}
			b.expect(t, ReasonNotServed, false)
			if emitted := b.emitted(); len(emitted) != 1 || !strings.Contains(emitted[0], tt.want) {
				t.Errorf("emitted %q, want %q", emitted, tt.want)
			}
			if b.writes > 0 {
				t.Errorf("%d writes", b.writes)
			}
		})
	}
}

func changed(change func(map[string]any, *apiextensionsv1.ConversionResponse)) http.HandlerFunc {
	return func(writer http.ResponseWriter, request *http.Request) { convert(writer, request, change) }
}

func refuse(writer http.ResponseWriter, _ *http.Request) {
	http.Error(writer, "no", http.StatusServiceUnavailable)
}

func TestAGraftIsRestoredAtGrowingIntervals(t *testing.T) {
	b := newBench(t)
	b.expect(t, ReasonGrafted, true)
	b.overwrite(t)
	b.expect(t, ReasonGrafted, true) // the first restore is immediate
	if n := b.contested(t); n != 0 {
		t.Errorf("contested %v times after one overwrite", n)
	}
	var waited []time.Duration
	for range 12 {
		b.overwrite(t)
		wait := b.expect(t, ReasonContested, false).RequeueAfter
		waited = append(waited, wait)
		b.clock.Step(wait)
		b.expect(t, ReasonGrafted, true)
	}
	s := time.Second
	want := []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 512 * s, 600 * s, 600 * s}
	if diff := cmp.Diff(want, waited); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if n := b.contested(t); n != 12 {
		t.Errorf("contested %v times", n)
	}
	b.clock.Step(31 * time.Minute)
	b.overwrite(t)
	b.expect(t, ReasonGrafted, true)
}

func TestAnUpgradeIsNotContested(t *testing.T) {
	b := newBench(t)
	b.expect(t, ReasonGrafted, true)
	b.overwrite(t, func(crd *unstructured.Unstructured) {
		crd.SetAnnotations(map[string]string{names.OCMVersion: "1.4.0"})
	})
	b.respond = func(http.ResponseWriter, *http.Request) { t.Error("probed before the graft was restored") }
	b.expect(t, ReasonGrafted, true)
	if got := b.crd(t).GetAnnotations()[names.OCMVersion]; got != "1.4.1" {
		t.Errorf("marked %s", got)
	}
}

func TestWhatCannotOrNeedNotBeGrafted(t *testing.T) {
	inEveryVersion := func(name string, schema map[string]any) func(*unstructured.Unstructured) {
		return func(crd *unstructured.Unstructured) {
			versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
			for _, version := range versions {
				_ = unstructured.SetNestedMap(version.(map[string]any), schema, "schema", "openAPIV3Schema", "properties", "spec", "properties", name)
			}
			_ = unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
		}
	}
	for name, tt := range map[string]struct {
		change  func(*unstructured.Unstructured)
		reason  Reason
		grafted bool
		want    string
	}{
		"fields of the same name": {
			change: func(crd *unstructured.Unstructured) {
				for _, name := range addonv1alpha1.GraftedSpecFields() {
					inEveryVersion(name, map[string]any{"type": "array", "items": map[string]any{"type": "string"}})(crd)
				}
			},
			reason: ReasonNative, grafted: true,
			want: "Normal CRDHasFields Nothing to add: the CRD has v1alpha1 spec.dependencies, ",
		},
		"one field of the same name": {
			change: inEveryVersion("dependencies", map[string]any{"type": "array", "items": map[string]any{"type": "string"}}),
			reason: ReasonGrafted, grafted: true, want: "Normal CRDGrafted",
		},
		"a field that every version has": {
			change: inEveryVersion("priority", map[string]any{"type": "string"}),
			reason: ReasonGrafted, grafted: true, want: "Normal CRDGrafted",
		},
		"a field that one version has": {
			change: func(crd *unstructured.Unstructured) {
				versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
				_ = unstructured.SetNestedField(versions[1].(map[string]any), "string",
					"schema", "openAPIV3Schema", "properties", "spec", "properties", "priority", "type")
				_ = unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
			},
			reason: ReasonNewer,
			want: "Warning CRDNewerThanInterlock OCM's CRD has fields or versions that this version of Interlock would " +
				"lose when it converts: v1beta1 spec.priority. Update Interlock",
		},
		"no schema": {
			change: func(crd *unstructured.Unstructured) {
				versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
				unstructured.RemoveNestedField(versions[0].(map[string]any), "schema")
				_ = unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
			},
			reason: ReasonNotGraftable, want: "Warning CRDNotGraftable CRD clustermanagementaddons",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.overwrite(t, tt.change)
			b.expect(t, tt.reason, tt.grafted)
			if emitted := b.emitted(); len(emitted) != 1 || !strings.HasPrefix(emitted[0], tt.want) {
				t.Errorf("emitted %q, want %q", emitted, tt.want)
			}
		})
	}
}

func TestErrorsOfAWrite(t *testing.T) {
	broken := errors.New("etcd is on fire")
	resource := crdResource.GroupResource()
	for name, tt := range map[string]struct {
		err   error
		fails bool
	}{
		"conflict":   {err: apierrors.NewConflict(resource, CRDName, broken)},
		"forbidden":  {err: apierrors.NewForbidden(resource, CRDName, broken), fails: true},
		"a failure":  {err: broken, fails: true},
		"not a CRD ": {err: apierrors.NewInvalid(crdKind.GroupKind(), CRDName, nil), fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.fail = func(verb string, _ client.Object) error {
				if verb == "update" {
					return tt.err
				}
				return nil
			}
			result, err := b.reconcile(t)
			if (err != nil) != tt.fails {
				t.Fatalf("error %v", err)
			}
			if tt.fails {
				if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), CRDName) {
					t.Errorf("error %q does not wrap the cause and name the CRD", err)
				}
				b.expectState(t, ReasonWriteFailed, false)
			} else if result.RequeueAfter != conflictDelay {
				t.Errorf("again after %s", result.RequeueAfter)
			}
			b.fail = nil
			b.expect(t, ReasonGrafted, true)
		})
	}
}

func TestErrorsOfARead(t *testing.T) {
	b := newBench(t)
	broken := errors.New("etcd is on fire")
	b.fail = func(string, client.Object) error { return broken }
	if _, err := b.reconcile(t); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	b.fail = func(string, client.Object) error { return apierrors.NewNotFound(crdResource.GroupResource(), CRDName) }
	if _, err := b.reconcile(t); err != nil {
		t.Fatal(err)
	}
	b.expectState(t, ReasonMissing, false)
}

// Fields whose schemas another writer changed are not OCM's: OCM's conversion
// would lose their content.
func TestConversionStaysWithFieldsThatAnotherWriterChanged(t *testing.T) {
	b := newBench(t)
	b.expect(t, ReasonGrafted, true)
	crd := b.crd(t)
	written := conversionOf(crd.Object)
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, version := range versions {
		for field := range b.schemas.properties {
			path := []string{"schema", "openAPIV3Schema", "properties", "spec", "properties", field, "description"}
			if err := unstructured.SetNestedField(version.(map[string]any), "changed", path...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	if err := b.hub.Update(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	b.expect(t, ReasonNotGraftable, true)
	if diff := cmp.Diff(written, conversionOf(b.crd(t).Object)); diff != "" {
		t.Errorf("conversion (-written +now):\n%s", diff)
	}

	b.overwrite(t)
	b.expect(t, ReasonGrafted, true)
}
