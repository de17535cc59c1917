package admission

import (
	"bytes"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestABundleInVainIsWarnedOf(t *testing.T) {
	const (
		needs     = `,"spec":{"dependencies":[{"name":"elsewhere","type":"Required"}]}`
		optional  = `,"spec":{"dependencies":[{"name":"elsewhere","type":"Optional"}]}`
		templates = `[{"group":"addon.open-cluster-management.io","resource":"addontemplates"}]`
		others    = `[{"group":"addon.open-cluster-management.io","resource":"addondeploymentconfigs"}]`
	)
	configured := func(field, configs string) string {
		return `,"spec":{"dependencies":[{"name":"elsewhere","type":"Required"}],"` + field + `":` + configs + `}`
	}
	for name, test := range map[string]struct {
		off         bool
		value, spec string
		warns       string
	}{
		"Useful":           {value: "true", spec: needs},
		"NoBundle":         {value: "false", spec: optional},
		"LifecycleOff":     {off: true, value: "true", spec: needs, warns: "lifecycle is off"},
		"RequiresNothing":  {value: "true", spec: optional, warns: "requires nothing"},
		"Empty":            {value: "true", spec: `,"spec":{}`, warns: "requires nothing"},
		"HasAnAgent":       {value: "true", spec: configured("supportedConfigs", templates), warns: "so it has an agent"},
		"HasAnAgentByBeta": {value: "true", spec: configured("defaultConfigs", templates), warns: "so it has an agent"},
		"HasOtherConfigs":  {value: "true", spec: configured("supportedConfigs", others)},
	} {
		t.Run(name, func(t *testing.T) {
			annotated := `"metadata":{"annotations":{"dependency.addon.open-cluster-management.io/bundle":"` + test.value + `"},`
			object := bytes.Replace(written("v1alpha1", test.spec), []byte(`"metadata":{`), []byte(annotated), 1)
			validator := NewValidator(hub(t, nil), nil)
			validator.Lifecycle = !test.off
			response := validator.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: object},
			}})
			warnings := strings.Join(response.Warnings, "; ")
			if !response.Allowed || strings.Contains(warnings, "bundle") != (test.warns != "") || !strings.Contains(warnings, test.warns) {
				t.Errorf("allowed %t, warnings %q", response.Allowed, response.Warnings)
			}
		})
	}
}
