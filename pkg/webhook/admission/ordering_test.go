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
