package admission

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/compat/graft"
)

var aTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// recorder returns a Recorder on a hub whose CRD has the annotation, and a counter of
// its reads of the CRD.
func recorder(t *testing.T, removalsCountFrom string, fails error) (*Recorder, *int) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: graft.CRDName, Annotations: map[string]string{crdgraft.RemovalsAnnotation: removalsCountFrom},
	}}
	reads := 0
	hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(crd).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if reads++; fails != nil {
				return fails
			}
			return hub.Get(ctx, key, object, options...)
		},
	}).Build()
	return &Recorder{Reader: hub, Clock: clocktesting.NewFakePassiveClock(aTime)}, &reads
}

// stored returns the annotations and the object that the API server stores after the response.
func stored(t *testing.T, raw []byte, response admission.Response) (map[string]string, []byte) {
	t.Helper()
	if !response.Allowed {
		t.Fatalf("denied: %v", response.Result)
	}
	if len(response.Patches) > 0 {
		patch, err := json.Marshal(response.Patches)
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := jsonpatch.DecodePatch(patch)
		if err != nil {
			t.Fatal(err)
		}
		if raw, err = decoded.Apply(raw); err != nil {
			t.Fatal(err)
		}
	}
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatal(err)
	}
	return object.Annotations, raw
}

func TestRecorder(t *testing.T) {
	const field = `,"spec":{"supportedConfigs":[{"n":99999999999999999999}],"dependencies":[{"name":"a","later":1}]}`
	recent, past := aTime.Add(time.Second).Format(time.RFC3339), aTime.Format(time.RFC3339)
	r, reads := recorder(t, recent, nil)
	request := func(operation admissionv1.Operation, old, updated []byte) admission.Request {
		return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Name: "gateway", Operation: operation, Object: runtime.RawExtension{Raw: updated}, OldObject: runtime.RawExtension{Raw: old},
		}}
	}

	declared := written("v1beta1", field)
	annotations, recorded := stored(t, declared, r.Handle(t.Context(), request("CREATE", nil, declared)))
	if annotations[addonv1alpha1.DependenciesAnnotation] != `{"dependencies":[{"later":1,"name":"a"}]}` ||
		annotations[addonv1alpha1.RecordAnnotation] == "" {
		t.Errorf("recorded %v", annotations)
	}
	if !strings.Contains(string(recorded), "99999999999999999999") {
		t.Errorf("something else was changed: %s", recorded)
	}
	if response := r.Handle(t.Context(), request("UPDATE", recorded, recorded)); len(response.Patches) > 0 || *reads > 0 {
		t.Errorf("a write of something else: %v, %d reads of the CRD", response.Patches, *reads)
	}

	var object map[string]any
	if err := json.Unmarshal(recorded, &object); err != nil {
		t.Fatal(err)
	}
	delete(object, "spec")
	undeclared, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		countFrom string
		fails     error
		kept      bool
		warning   string
	}{
		"after the writers that did not see the field": {countFrom: past},
		"no graft": {countFrom: ""},
		"just grafted": {
			countFrom: recent, kept: true, warning: "[]. To remove a part, write it empty after 2026-01-02T03:04:06Z",
		},
		"the CRD that cannot be read": {fails: errors.New("no right"), kept: true, warning: "no right"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := recorder(t, test.countFrom, test.fails)
			response := r.Handle(t.Context(), request("UPDATE", recorded, undeclared))
			annotations, _ := stored(t, undeclared, response)
			if kept := len(annotations) == 2; kept != test.kept {
				t.Errorf("annotations %v", annotations)
			}
			if !strings.Contains(strings.Join(response.Warnings, ";"), test.warning) || (test.warning == "") != (len(response.Warnings) == 0) {
				t.Errorf("warnings %q", response.Warnings)
			}
		})
	}

	t.Run("what cannot be read is stored as it is", func(t *testing.T) {
		response := r.Handle(t.Context(), request("CREATE", nil, []byte(`{"metadata":{"annotations":1}}`)))
		if !response.Allowed || len(response.Patches) > 0 || len(response.Warnings) != 1 {
			t.Errorf("%+v", response)
		}
	})
}

func TestWhatOCMCannotReadIsDenied(t *testing.T) {
	const absurd, sound = "99999999999", "5"
	object := func(version, concurrency string) []byte {
		return written(version, `,"spec":{"installStrategy":{"type":"Placements","placements":[{"name":"p","namespace":"n","rolloutStrategy":`+
			`{"type":"Progressive","progressive":{"maxConcurrency":`+concurrency+`}}}]}}`)
	}
	for name, test := range map[string]struct {
		version, old, updated string
		denied                bool
	}{
		"created":            {"v1alpha1", "", absurd, true},
		"created in v1beta1": {"v1beta1", "", absurd, true},
		"changed":            {"v1alpha1", sound, absurd, true},
		"stored already":     {"v1alpha1", absurd, absurd, false},
		"corrected":          {"v1alpha1", absurd, sound, false},
		"sound":              {"v1beta1", "", sound, false},
		"an unknown version": {"v1", "", absurd, false},
	} {
		t.Run(name, func(t *testing.T) {
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Name: "gateway", Operation: "CREATE", Kind: metav1.GroupVersionKind{Version: test.version},
				Object: runtime.RawExtension{Raw: object(test.version, test.updated)},
			}}
			if test.old != "" {
				request.Operation, request.OldObject.Raw = "UPDATE", object(test.version, test.old)
			}
			response := NewValidator(hub(t, nil), nil).Handle(t.Context(), request)
			if response.Allowed == test.denied {
				t.Errorf("%+v", response)
			}
			for _, name := range []string{"gateway", "maxConcurrency"} {
				if test.denied && !strings.Contains(response.Result.Message, name) {
					t.Errorf("%q does not name %s", response.Result.Message, name)
				}
			}
		})
	}
}
