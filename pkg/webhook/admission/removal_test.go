package admission

import (
	"bytes"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestARemovalInVainIsWarnedOf(t *testing.T) {
	const kept = `,"spec":{"dependencies":[{"name":"tunnel","install":"Auto"}]}`
	const removed = `,"spec":{"dependencies":[{"name":"tunnel","install":"Auto","removal":"WithLastDependent"}]}`
	annotated := bytes.Replace(written("v1alpha1", `,"spec":{}`), []byte(`"metadata":{`), []byte(`"metadata":{"annotations":{`+
		`"addon.open-cluster-management.io/dependencies":"[{name: tunnel, install: Auto, removal: WithLastDependent}]"},`), 1)
	for name, test := range map[string]struct {
		lifecycle    bool
		old, updated []byte
		warns        bool
	}{
		"Created":       {false, nil, written("v1alpha1", removed), true},
		"ByAnnotation":  {false, nil, annotated, true},
		"WithLifecycle": {true, nil, written("v1alpha1", removed), false},
		"Added":         {false, written("v1alpha1", kept), written("v1alpha1", removed), true},
		"ThereBefore":   {false, written("v1alpha1", removed), written("v1alpha1", removed), false},
		"NotKept":       {true, written("v1alpha1", kept), written("v1alpha1", removed), false},
		"Kept":          {false, nil, written("v1alpha1", kept), false},
	} {
		t.Run(name, func(t *testing.T) {
			validator := NewValidator(hub(t, nil), nil)
			validator.Lifecycle = test.lifecycle
			request := admissionv1.AdmissionRequest{Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: test.updated}}
			if test.old != nil {
				request.Operation, request.OldObject.Raw = admissionv1.Update, test.old
			}
			response := validator.Handle(t.Context(), admission.Request{AdmissionRequest: request})
			if strings.Contains(strings.Join(response.Warnings, "; "), "removal has no effect on this hub") != test.warns || !response.Allowed {
				t.Errorf("allowed %t, warnings %q: %v", response.Allowed, response.Warnings, response.Result)
			}
		})
	}
}

func TestARemovalThatAnotherOneKeepsIsWarnedOf(t *testing.T) {
	const removing = `,"spec":{"dependencies":[{"name":"tunnel","install":"Auto","removal":"WithLastDependent"}]}`
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		second string
		warns  bool
	}{
		"Keeps":         {`[{name: tunnel, install: Auto}]`, true},
		"KeepsByName":   {`[{name: t, addOn: tunnel, install: Auto, removal: Keep}]`, true},
		"Removes":       {`[{name: tunnel, install: Auto, removal: WithLastDependent}]`, false},
		"OnlyNeeds":     {`[{name: tunnel}]`, false},
		"OfAnotherOne":  {`[{name: base, install: Auto}]`, false},
		"CannotBeUsed":  {`[{name: tunnel, install: Auto`, false},
		"DeclaresAnAPI": {`[{name: t, api: {kind: Tunnel}, install: Auto}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			second, itself := fixture.Annotated("other", test.second), fixture.Annotated("gateway", `[{name: tunnel, install: Auto}]`)
			cache := fake.NewClientBuilder().WithScheme(scheme).WithObjects([]client.Object{&second, &itself}...).Build()
			validator := NewValidator(hub(t, nil), cache)
			validator.Lifecycle = true
			response := validator.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: written("v1alpha1", removing)},
			}})
			const warning = "removal of 'tunnel' has no effect, because add-on 'other' has it installed, too, and keeps it"
			if strings.Contains(strings.Join(response.Warnings, "; "), warning) != test.warns || !response.Allowed {
				t.Errorf("allowed %t, warnings %q: %v", response.Allowed, response.Warnings, response.Result)
			}
		})
	}
}
