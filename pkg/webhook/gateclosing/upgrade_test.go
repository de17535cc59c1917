package gateclosing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func (f *imagined) Upgraded(
	_ context.Context, addOn types.NamespacedName, template string,
) ([]evaluation.Finding, *gate.Upgrade, error) {
	f.requested = addOn.String() + " " + template
	edge := &addonv1alpha1.AddonDependency{Name: "base", Type: addonv1alpha1.DependencyTypeRequired}
	findings := []evaluation.Finding{{Dependency: edge, Verdict: f.verdict}}
	if f.unknown {
		return findings, nil, f.fails
	}
	return findings, &gate.Upgrade{Template: template, Version: "2.0.0"}, f.fails
}

func reference(desired, applied string) string {
	return fmt.Sprintf(
		`{"group":"addon.open-cluster-management.io","resource":"addontemplates","desiredConfig":{"name":%q},"lastAppliedConfig":{"name":%q}}`,
		desired, applied)
}

func deployed(metadata, references string, conditions ...string) string {
	return fmt.Sprintf(`{"metadata":{"name":"gateway"%s},"status":{"configReferences":[%s],"conditions":[%s]}}`,
		metadata, references, strings.Join(conditions, ","))
}

const marked = `{"type":"Upgradable","status":"True","reason":"NothingWaits","message":"","lastTransitionTime":"2020-01-01T00:00:00Z"}`

func TestHolder(t *testing.T) {
	declared := declaration.Declaration{Ordering: addonv1alpha1.OrderingInstallAndUpgrade}
	missing := imagined{declared: declared, verdict: evaluation.NotInstalled}
	const config = `{"group":"addon.open-cluster-management.io","resource":"addondeploymentconfigs","desiredConfig":{"name":"c"}},`
	runs, next := deployed("", reference("v1", "v1"), marked), deployed("", reference("v2", ""), marked)
	byHand := `,"annotations":{"dependency.addon.open-cluster-management.io/upgrade":"v2"}`
	broken := errors.New("the hub is busy")
	for name, test := range map[string]struct {
		old, updated string
		fleet        imagined
		patched      string // operations and paths, or empty without a patch
	}{
		"Unsatisfied": {runs, next, missing, "replace /status/configReferences/0, replace /status/conditions/0, add /status/relatedObjects"},
		"BehindAConfig": {
			runs, deployed("", config+reference("v2", ""), `{"type":"Available"}`, marked), missing,
			"replace /status/configReferences/1, replace /status/conditions/1, add /status/relatedObjects",
		},
		"ConditionLost": {
			runs, deployed("", reference("v2", ""), `{"type":"Available"}`), missing,
			"replace /status/configReferences/0, add /status/conditions/-, add /status/relatedObjects",
		},
		"ConditionsLost": {
			runs, `{"status":{"configReferences":[` + reference("v2", "") + `]}}`, missing,
			"replace /status/configReferences/0, add /status/conditions, add /status/relatedObjects",
		},
		"RelatedAlready": {
			runs, related(next, template("v2")), missing, "replace /status/configReferences/0, replace /status/conditions/0",
		},
		"AnotherWaited": {
			runs, related(next, operator, template("v0")), missing,
			"replace /status/configReferences/0, replace /status/conditions/0, replace /status/relatedObjects/1",
		},
		"OthersAreRelated": {
			runs, related(next, operator), missing,
			"replace /status/configReferences/0, replace /status/conditions/0, add /status/relatedObjects/-",
		},
		"Satisfied": {runs, next, imagined{declared: declared, verdict: evaluation.Satisfied}, ""},
		"Held":      {runs, next, imagined{declared: declared, verdict: evaluation.Held}, ""},
		"NotKnown":  {runs, next, imagined{declared: declared, verdict: evaluation.NotInstalled, unknown: true}, ""},
		"OnlyInstalling": {
			runs, next, imagined{declared: declaration.Declaration{Ordering: addonv1alpha1.OrderingInstall}, verdict: evaluation.NotInstalled}, "",
		},
		"CatalogFails":    {runs, next, imagined{registered: broken}, ""},
		"ReadFails":       {runs, next, imagined{declared: declared, fails: broken}, ""},
		"TheSameTemplate": {runs, deployed("", reference("v1", ""), marked), missing, ""},
		"First":           {deployed("", ""), next, missing, ""},
		"FirstUnderWay":   {deployed("", reference("v1", ""), marked), next, missing, ""},
		"ByHand":          {deployed(byHand, reference("v1", "v1"), marked), deployed(byHand, reference("v2", ""), marked), missing, ""},
		"IsDeleted":       {deployed(`,"deletionTimestamp":"2026-03-01T10:00:00Z"`, reference("v1", "v1"), marked), next, missing, ""},
		"NoTemplate":      {runs, deployed("", "", marked), missing, ""},
		"NoObject":        {runs, `[]`, missing, ""},
		"NoStoredObject":  {`[]`, next, missing, ""},
	} {
		t.Run(name, func(t *testing.T) {
			response := heldBy(t, &test.fleet, test.old, test.updated)
			var got []string
			for _, operation := range response.Patches {
				got = append(got, operation.Operation+" "+operation.Path)
			}
			if !response.Allowed || strings.Join(got, ", ") != test.patched {
				t.Fatalf("allowed: %t, %q", response.Allowed, got)
			}
			if test.patched == "" {
				return
			}
			if test.fleet.requested != "cluster1/gateway v2" || string(response.Patches[0].Value.(json.RawMessage)) != reference("v1", "v1") {
				t.Errorf("%s; put back: %s", test.fleet.requested, response.Patches[0].Value)
			}
			if stored := reported(response.Patches[1]); !gate.Waits(&stored) || !stored.LastTransitionTime.Equal(&fixture.Now) {
				t.Errorf("%+v", stored)
			}
			for _, operation := range response.Patches[2:] {
				if object := relatedBy(operation); object != gate.Related("v2") {
					t.Errorf("%+v", object)
				}
			}
		})
	}
}

// operator is a related object of another component.
const operator = `{"group":"apps","resource":"deployments","namespace":"ns","name":"a"}`

func template(name string) string {
	return `{"group":"addon.open-cluster-management.io","resource":"addontemplates","name":"` + name + `"}`
}

// related adds related objects to an add-on.
func related(addOn string, objects ...string) string {
	return strings.Replace(addOn, `"status":{`, `"status":{"relatedObjects":[`+strings.Join(objects, ",")+`],`, 1)
}

func relatedBy(operation jsonpatch.Operation) ocmv1alpha1.ObjectReference {
	if list, ok := operation.Value.([]ocmv1alpha1.ObjectReference); ok {
		return list[0]
	}
	return operation.Value.(ocmv1alpha1.ObjectReference)
}

func TestNoTemplateWaitsWithoutALeader(t *testing.T) {
	runs, next := deployed("", reference("v1", "v1"), marked), deployed("", reference("v2", ""), marked)
	for verdict, calls := range map[evaluation.Verdict]requireCount{evaluation.NotInstalled: 1, evaluation.Satisfied: 0} {
		var got requireCount
		fleet := &imagined{declared: declaration.Declaration{Ordering: addonv1alpha1.OrderingInstallAndUpgrade}, verdict: verdict}
		response := holderOf(fleet, &got).Handle(t.Context(), change(runs, next))
		if !response.Allowed || len(response.Patches) > 0 || got != calls {
			t.Errorf("%s: allowed: %t, patches %v, asked %d times", verdict, response.Allowed, response.Patches, got)
		}
	}
}

func holderOf(fleet *imagined, led Lifecycle) *Holder {
	return &Holder{Clock: clocktesting.NewFakeClock(fixture.Now.Time), Fleet: fleet, Lifecycle: led}
}

func heldBy(t *testing.T, fleet *imagined, old, updated string) admission.Response {
	t.Helper()
	return holderOf(fleet, lifecycle{}).Handle(t.Context(), change(old, updated))
}

func change(old, updated string) admission.Request {
	return admission.Request{
		AdmissionRequest: admissionv1.AdmissionRequest{
			Namespace: "cluster1", Name: "gateway", Operation: admissionv1.Update, SubResource: "status",
			OldObject: runtime.RawExtension{Raw: []byte(old)}, Object: runtime.RawExtension{Raw: []byte(updated)},
		},
	}
}

func reported(operation jsonpatch.Operation) metav1.Condition {
	if list, ok := operation.Value.([]metav1.Condition); ok {
		return list[0]
	}
	return operation.Value.(metav1.Condition)
}

// FuzzHolder checks that no object makes Holder deny a request or panic.
func FuzzHolder(f *testing.F) {
	f.Add([]byte(deployed("", reference("v1", "v1"), marked)), []byte(deployed("", reference("v2", ""), marked)))
	f.Add([]byte(`null`), []byte(`{"status":{"configReferences":[7,null,{"desiredConfig":null}]}}`))
	f.Fuzz(func(t *testing.T, old, updated []byte) {
		fleet := &imagined{declared: declaration.Declaration{Ordering: addonv1alpha1.OrderingInstallAndUpgrade}, verdict: evaluation.NotInstalled}
		if response := heldBy(t, fleet, string(old), string(updated)); !response.Allowed {
			t.Fatalf("denied: %v", response.Result)
		}
	})
}
