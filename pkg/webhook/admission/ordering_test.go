package admission

import (
	"bytes"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestAnOrderInVainIsWarnedOf(t *testing.T) {
	const none, byField = `,"spec":{}`, `,"spec":{"ordering":"Install"}`
	const annotated = `,"annotated":true`
	object := func(spec string) []byte {
		if spec != annotated {
			return written("v1alpha1", spec)
		}
		const by = `"metadata":{"annotations":{"addon.open-cluster-management.io/dependencies":"{ordering: Install}"},`
		return bytes.Replace(written("v1alpha1", `,"spec":{}`), []byte(`"metadata":{`), []byte(by), 1)
	}
	for name, test := range map[string]struct {
		lifecycle   bool
		before, now string // empty before: it is created
		warns       bool
	}{
		"Created":        {false, "", byField, true},
		"ByAnnotation":   {false, "", annotated, true},
		"WithLifecycle":  {true, "", byField, false},
		"Added":          {false, none, byField, true},
		"ThereBefore":    {false, byField, byField, false},
		"Removed":        {false, byField, none, false},
		"None":           {false, "", `,"spec":{"ordering":"None"}`, false},
		"OnlyTheWord":    {false, "", `,"spec":{"dependencies":[{"name":"ordering"}]}`, false},
		"CannotBeReadAt": {false, "", `,"spec":{"ordering":"Later"}`, false}, // it is denied
	} {
		t.Run(name, func(t *testing.T) {
			validator := NewValidator(hub(t, nil), nil)
			validator.Lifecycle = test.lifecycle
			request := admissionv1.AdmissionRequest{
				Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: object(test.now)},
			}
			if test.before != "" {
				request.Operation, request.OldObject.Raw = admissionv1.Update, object(test.before)
			}
			response := validator.Handle(t.Context(), admission.Request{AdmissionRequest: request})
			warned := strings.Contains(strings.Join(response.Warnings, "; "), "ordering has no effect on this hub")
			if warned != test.warns {
				t.Errorf("allowed %t, warnings %q", response.Allowed, response.Warnings)
			}
		})
	}
}

func TestARemovalInVainIsWarnedOf(t *testing.T) {
	const kept = `,"spec":{"dependencies":[{"name":"tunnel","install":"Auto"}]}`
	const removed = `,"spec":{"dependencies":[{"name":"tunnel","install":"Auto","removal":"WithLastDependent"}]}`
	annotated := bytes.Replace(written("v1alpha1", `,"spec":{}`), []byte(`"metadata":{`), []byte(`"metadata":{"annotations":{`+
		`"addon.open-cluster-management.io/dependencies":"[{name: tunnel, install: Auto, removal: WithLastDependent}]"},`), 1)
	for name, test := range map[string]struct {
		lifecycle   bool
		before, now []byte
		warns       bool
	}{
		"Created":       {false, nil, written("v1alpha1", removed), true},
		"ByAnnotation":  {false, nil, annotated, true},
		"WithLifecycle": {true, nil, written("v1alpha1", removed), false},
		"Added":         {false, written("v1alpha1", kept), written("v1alpha1", removed), true},
		"ThereBefore":   {false, written("v1alpha1", removed), written("v1alpha1", removed), false},
		"Kept":          {false, nil, written("v1alpha1", kept), false},
	} {
		t.Run(name, func(t *testing.T) {
			validator := NewValidator(hub(t, nil), nil)
			validator.Lifecycle = test.lifecycle
			request := admissionv1.AdmissionRequest{Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: test.now}}
			if test.before != nil {
				request.Operation, request.OldObject.Raw = admissionv1.Update, test.before
			}
			response := validator.Handle(t.Context(), admission.Request{AdmissionRequest: request})
			if strings.Contains(strings.Join(response.Warnings, "; "), "removal has no effect on this hub") != test.warns || !response.Allowed {
				t.Errorf("allowed %t, warnings %q: %v", response.Allowed, response.Warnings, response.Result)
			}
		})
	}
}
