package admission

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"open-cluster-management.io/interlock/test/fixture"
)

func TestPolicies(t *testing.T) {
	currentTime := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	override := func(rest string) string { return "overrides: [{addOn: base, dependency: gateway, " + rest + "}]" }
	optional := override("type: Optional")
	for name, test := range map[string]struct {
		old, spec string // old is empty if the policy is created
		denied    string
		warnings  []string
	}{
		"fine":    {spec: optional},
		"nothing": {spec: "{}"},
		"no range": {
			spec:   override("version: newest"),
			denied: `policy 'p': spec.overrides[0].version: Invalid value: "newest": must be a range`,
		},
		"too long": {
			spec:   override(`waive: {reason: x, until: "2027-08-03T10:00:00Z"}`),
			denied: "policy 'p': spec.overrides[0].waive.until: 2027-08-03T10:00:00Z is more than 366 days from now",
		},
		"a bad selector": {
			spec:   "clusterSelector: {matchExpressions: [{key: a, operator: Near}]}\n" + optional,
			denied: "policy 'p': spec.clusterSelector: ",
		},
		"over already": {
			spec:     override(`waive: {reason: x, until: "2026-08-01T10:00:00Z"}`),
			warnings: []string{"spec.overrides[0]: the waiver ended at 2026-08-01T10:00:00Z: the dependency counts as declared"},
		},
		"no such add-on": {
			spec:     "overrides: [{addOn: bsae, dependency: gateway, type: Optional}]",
			warnings: []string{"spec.overrides[0] has no effect: no ClusterManagementAddOn of the name bsae is on this hub"},
		},
		"no such dependency": {
			spec:     "overrides: [{addOn: base, dependency: getaway, type: Optional}]",
			warnings: []string{"spec.overrides[0] has no effect: base declares no dependency of the name getaway"},
		},
		"stored already": {old: override("version: newest"), spec: override("version: newest")},
		"made worse":     {old: optional, spec: override("version: newest"), denied: "spec.overrides[0].version"},
	} {
		t.Run(name, func(t *testing.T) {
			object := func(spec string) runtime.RawExtension {
				policy := fixture.Policy(t, "p", spec)
				raw, err := json.Marshal(&policy)
				if err != nil {
					t.Fatal(err)
				}
				return runtime.RawExtension{Raw: raw}
			}
			request := admission.Request{
				AdmissionRequest: admissionv1.AdmissionRequest{Name: "p", Operation: admissionv1.Create, Object: object(test.spec)},
			}
			if test.old != "" {
				request.Operation, request.OldObject = admissionv1.Update, object(test.old)
			}
			v := &PolicyValidator{Clock: clocktesting.NewFakePassiveClock(currentTime), Registered: hub(t, nil)}
			response := v.Handle(t.Context(), request)
			message := ""
			if response.Result != nil {
				message = response.Result.Message
			}
			if response.Allowed != (test.denied == "") || !strings.Contains(message, test.denied) ||
				!slices.Equal(response.Warnings, test.warnings) {
				t.Errorf("allowed %t, %q, warnings %q", response.Allowed, message, response.Warnings)
			}
		})
	}
}

// A policy that cannot be decoded is denied: addon-manager could not read it, nor any other policy in the same list.
func TestPolicyThatCannotBeRead(t *testing.T) {
	for name, test := range map[string]struct {
		object  string
		allowed bool
		message string
	}{
		"none":           {"", false, "policy 'p': read the object: there is none"},
		"another type":   {`{"spec":{"overrides":1}}`, false, "policy 'p': read the object: "},
		"another moment": {`{"spec":{"overrides":[{"waive":{"until":"2026-12-31t00:00:00z"}}]}}`, false, "policy 'p': read the object: "},
		"too much": {
			`{"spec":{"overrides":[` + strings.Repeat("{},", maxPolicyValues) + `{}]}}`, true, "policy 'p' was not checked: it has ",
		},
	} {
		v := &PolicyValidator{Clock: clocktesting.NewFakePassiveClock(time.Time{})}
		response := v.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Name: "p", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(test.object)},
		}})
		told := strings.Join(response.Warnings, "; ")
		if !test.allowed {
			told = response.Result.Message
		}
		if response.Allowed != test.allowed || !strings.HasPrefix(told, test.message) {
			t.Errorf("%s: allowed %t, %q", name, response.Allowed, told)
		}
	}
	unread := hub(t, errors.New("no list"))
	v := &PolicyValidator{Clock: clocktesting.NewFakePassiveClock(time.Time{}), Registered: unread}
	policy := fixture.Policy(t, "p", "overrides: [{addOn: base, dependency: gateway, type: Optional}]")
	raw, _ := json.Marshal(&policy)
	response := v.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Name: "p", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw},
	}})
	if !response.Allowed || len(response.Warnings) > 0 {
		t.Errorf("allowed %t, %q", response.Allowed, response.Warnings)
	}
}
