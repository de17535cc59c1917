package admission

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestAnOrderInVainIsWarnedOf(t *testing.T) {
	const unordered, byField = `,"spec":{}`, `,"spec":{"ordering":"Install"}`
	const annotated = `,"annotated":true`
	object := func(spec string) []byte {
		if spec != annotated {
			return written("v1alpha1", spec)
		}
		const metadata = `"metadata":{"annotations":{"addon.open-cluster-management.io/dependencies":"{ordering: Install}"},`
		return bytes.Replace(written("v1alpha1", `,"spec":{}`), []byte(`"metadata":{`), []byte(metadata), 1)
	}
	for name, test := range map[string]struct {
		lifecycle    bool
		old, updated string // old is empty if the registration is created
		warns        bool
	}{
		"Created":        {false, "", byField, true},
		"ByAnnotation":   {false, "", annotated, true},
		"WithLifecycle":  {true, "", byField, false},
		"Added":          {false, unordered, byField, true},
		"ThereBefore":    {false, byField, byField, false},
		"Removed":        {false, byField, unordered, false},
		"None":           {false, "", `,"spec":{"ordering":"None"}`, false},
		"OnlyTheWord":    {false, "", `,"spec":{"dependencies":[{"name":"ordering"}]}`, false},
		"CannotBeReadAt": {false, "", `,"spec":{"ordering":"Later"}`, false}, // it is denied
	} {
		t.Run(name, func(t *testing.T) {
			validator := NewValidator(hub(t, nil), nil)
			validator.Lifecycle = test.lifecycle
			request := admissionv1.AdmissionRequest{
				Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: object(test.updated)},
			}
			if test.old != "" {
				request.Operation, request.OldObject.Raw = admissionv1.Update, object(test.old)
			}
			response := validator.Handle(t.Context(), admission.Request{AdmissionRequest: request})
			warned := strings.Contains(strings.Join(response.Warnings, "; "), "ordering has no effect on this hub")
			if warned != test.warns {
				t.Errorf("allowed %t, warnings %q", response.Allowed, response.Warnings)
			}
		})
	}
}

func TestUpgradesThatDoNotWaitAreWarnedOf(t *testing.T) {
	const (
		upgrades, installs = `,"spec":{"ordering":"InstallAndUpgrade"}`, `,"spec":{"ordering":"Install"}`
		templates          = `[{"group":"addon.open-cluster-management.io","resource":"addontemplates"}]`
		others             = `[{"group":"addon.open-cluster-management.io","resource":"addondeploymentconfigs"}]`
		warning            = "spec.ordering: add-on 'gateway' names no AddOnTemplate, so its own manager deploys it: its installation waits, " +
			"but its upgrades do not. Declare Install; after an upgrade, Degraded reports requirements that are not satisfied"
	)
	upgradesWith := func(fields string) string { return `,"spec":{"ordering":"InstallAndUpgrade",` + fields + `}` }
	for name, test := range map[string]struct {
		version, old, updated string // old is empty if the registration is created
		warns                 bool
	}{
		"Created":             {"v1alpha1", "", upgrades, true},
		"CreatedByBeta":       {"v1beta1", "", upgrades, true},
		"Added":               {"v1alpha1", installs, upgrades, true},
		"ThereBefore":         {"v1alpha1", upgrades, upgrades, false},
		"InstallsOnly":        {"v1alpha1", "", installs, false},
		"WithOtherConfigs":    {"v1alpha1", "", upgradesWith(`"supportedConfigs":` + others), true},
		"WithTemplates":       {"v1alpha1", "", upgradesWith(`"supportedConfigs":` + templates), false},
		"WithTemplatesByBeta": {"v1beta1", "", upgradesWith(`"defaultConfigs":` + templates), false},
		"WithAPlacements": {
			"v1alpha1", "",
			upgradesWith(`"installStrategy":{"type":"Manual","placements":[{"name":"p","namespace":"n","configs":` + templates + `}]}`),
			false,
		},
		"TemplatesRemoved": {"v1alpha1", upgradesWith(`"supportedConfigs":` + templates), upgrades, true},
		"ConfigsOfNoType":  {"v1alpha1", "", upgradesWith(`"supportedConfigs":1`), true}, // OCM denies it
	} {
		t.Run(name, func(t *testing.T) {
			validator := NewValidator(hub(t, nil), nil)
			validator.Lifecycle = true
			request := admissionv1.AdmissionRequest{
				Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: written(test.version, test.updated)},
			}
			if test.old != "" {
				request.Operation, request.OldObject.Raw = admissionv1.Update, written(test.version, test.old)
			}
			response := validator.Handle(t.Context(), admission.Request{AdmissionRequest: request})
			if warned := slices.Contains(response.Warnings, warning); warned != test.warns || !test.warns && len(response.Warnings) > 0 {
				t.Errorf("warnings %q", response.Warnings)
			}
		})
	}
	if len(warning) > 256 {
		t.Errorf("%d characters: an API server may truncate it", len(warning))
	}
}
