package gaterule

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/test/guardpolicy"
)

func TestBothFormsHaveTheSameRule(t *testing.T) { guardpolicy.SameRule(t, &Rule) }

const (
	closed    = `"annotations":{"a":"b","dependency.addon.open-cluster-management.io/gate":"closed"}`
	opened    = `"annotations":{"dependency.addon.open-cluster-management.io/gate":"open"}`
	absurd    = `"annotations":{"dependency.addon.open-cluster-management.io/gate":"Closed"}`
	available = "Available"
)

func condition(kind, status, message string) string {
	return fmt.Sprintf(`{"type":%q,"status":%q,"reason":"R","message":%q,"lastTransitionTime":"2026-03-01T10:00:00Z"}`, kind, status, message)
}

func probe(form rule.Form) string {
	return fmt.Sprintf(`{"type":%q,"status":"True","reason":%q,"message":"","lastTransitionTime":"2026-03-01T10:00:00Z"}`,
		rule.TypeProbe, form)
}

func addOn(metadata string, conditions ...string) string {
	if metadata != "" {
		metadata = "," + metadata
	}
	return `{"metadata":{"name":"gateway"` + metadata + `},"status":{"conditions":[` + strings.Join(conditions, ",") + `]}}`
}

// mutations has the cases of both forms.
var mutations = []struct {
	name           string
	stored, update string
	dryRun         bool
	removed        int // the index of the removed condition, or -1
}{
	{"closed: the condition is left out", addOn(closed), addOn(closed, condition(TypeRegistered, "True", "")), false, 0},
	{
		"wherever it is in the list", addOn(closed), addOn(closed, condition(available, "False", ""), condition(TypeRegistered, "True", "")),
		false, 1,
	},
	{
		"registration failed before the gate was closed", addOn(closed, condition(TypeRegistered, "False", "")),
		addOn(closed, condition(TypeRegistered, "True", "")), false, -1,
	},
	{"a failure of the registration is left out too", addOn(closed), addOn(closed, condition(TypeRegistered, "False", "")), false, 0},
	{"another condition passes", addOn(closed), addOn(closed, condition(available, "True", "")), false, -1},
	{
		"it is being deleted", addOn(closed + `,"deletionTimestamp":"2026-03-01T10:00:00Z"`),
		addOn(closed+`,"deletionTimestamp":"2026-03-01T10:00:00Z"`, condition(TypeRegistered, "True", "")), false, -1,
	},
	{"open", addOn(opened), addOn(opened, condition(TypeRegistered, "True", "")), false, -1},
	{"without a gate", addOn(""), addOn("", condition(TypeRegistered, "True", "")), false, -1},
	{"no value of a gate", addOn(absurd), addOn(absurd, condition(TypeRegistered, "True", "")), false, -1},
	{
		"the installation has begun", addOn(closed, condition(TypeRegistered, "True", "")),
		addOn(closed, condition(TypeRegistered, "True", "again")), false, -1,
	},
	{"a write of the status opens nothing", addOn(closed), addOn(opened, condition(TypeRegistered, "True", "")), false, 0},
	{"nor does it close anything", addOn(""), addOn(closed, condition(TypeRegistered, "True", "")), false, -1},
	{"a status without conditions", addOn(closed), `{"metadata":{"name":"gateway"},"status":{}}`, false, -1},
	{"no status", addOn(closed), `{"metadata":{"name":"gateway"}}`, false, -1},
	{"a dry run of a write", addOn(closed), addOn(closed, condition(TypeRegistered, "True", "")), true, 0},
	{"a dry run without a gate", addOn(""), addOn("", condition(TypeRegistered, "True", "")), true, -1},
	{"a probe that is stored", addOn(""), addOn("", condition(TypeRegistered, "True", ""), probe(rule.FormPolicy)), false, -1},
}

func TestMutate(t *testing.T) {
	for _, test := range mutations {
		t.Run(test.name, func(t *testing.T) {
			patch, err := Mutate([]byte(test.stored), []byte(test.update), test.dryRun)
			if err != nil {
				t.Fatal(err)
			}
			path := ""
			if len(patch) == 1 && patch[0].Operation == "remove" {
				path = patch[0].Path
			}
			if want := fmt.Sprintf("/status/conditions/%d", test.removed); (test.removed < 0) != (patch == nil) || patch != nil && path != want {
				t.Errorf("patch %v, want %s", patch, want)
			}
		})
	}
}

// The rule recognizes its own effect on a probe.
func TestTheEffectOfAProbeIsRecognized(t *testing.T) {
	probe := Rule.Probe(rule.FormPolicy, metav1.Now())
	if Rule.Changed(probe) || !Rule.Changed(nil) {
		t.Error("which conditions show that the rule is in force")
	}
	content, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": probe}})
	if err != nil {
		t.Fatal(err)
	}
	if patch, err := Mutate([]byte(addOn("")), content, true); err != nil || len(patch) != 1 {
		t.Errorf("%v, %v", patch, err)
	}
}

func TestProbes(t *testing.T) {
	probed := func(form rule.Form) []byte {
		return []byte(addOn("", condition(TypeRegistered, "True", ""), probe(form)))
	}
	for _, form := range []rule.Form{rule.FormPolicy, rule.FormWebhook} {
		if patch, err := Mutate([]byte(addOn("")), probed(form), true); err != nil || len(patch) != 1 {
			t.Errorf("%s: %v, %v", form, patch, err)
		}
	}
	policy := compiled(t)
	policy.DryRun = true
	for form, want := range map[rule.Form]bool{rule.FormPolicy: true, rule.FormWebhook: false} {
		if _, matched, err := policy.Mutate(t.Context(), object(t, []byte(addOn(""))), object(t, probed(form))); err != nil || matched != want {
			t.Errorf("%s: the policy matches: %t, %v", form, matched, err)
		}
	}
}

func TestPolicyDoesTheSame(t *testing.T) {
	policy := compiled(t)
	for _, test := range mutations {
		t.Run(test.name, func(t *testing.T) {
			policy.DryRun = test.dryRun
			compareForms(t, policy, []byte(test.stored), []byte(test.update))
		})
	}
}

// FuzzPolicyDoesTheSame builds objects from the bytes: the gate, and conditions in any order.
func FuzzPolicyDoesTheSame(f *testing.F) {
	policy := compiled(f)
	f.Add([]byte{}, []byte{}, false)
	f.Add([]byte{1, 3}, []byte{1, 7, 3}, false)
	f.Add([]byte{0, 5}, []byte{2, 6, 1}, true)
	f.Add([]byte{1, 0, 13}, []byte{3, 0, 13}, false)
	f.Add([]byte{1, 4, 13}, []byte{7, 0, 13, 3}, false)
	f.Fuzz(func(t *testing.T, stored, update []byte, dryRun bool) {
		policy.DryRun = dryRun
		compareForms(t, policy, shaped(stored), shaped(update))
	})
}

// FuzzMutateSurvives checks that no input causes a panic.
func FuzzMutateSurvives(f *testing.F) {
	for _, test := range mutations {
		f.Add([]byte(test.stored), []byte(test.update), test.dryRun)
	}
	f.Fuzz(func(_ *testing.T, stored, update []byte, dryRun bool) { _, _ = Mutate(stored, update, dryRun) })
}

// shaped builds an object from bytes.
func shaped(bytes []byte) []byte {
	var references []string
	if len(bytes) > 2 {
		references, bytes = shapedReferences(bytes[0]), bytes[1:]
	}
	gate := ""
	if len(bytes) > 0 {
		gate, bytes = []string{"", closed, opened, absurd, byHand}[bytes[0]%5], bytes[1:]
	}
	seen, conditions, held := map[string]bool{}, []string{}, ""
	for _, b := range bytes {
		if b%7 == 6 && !seen[upgradable] {
			seen[upgradable] = true
			conditions, held = append(conditions, waits), []string{"v1", "v2", "other", ""}[b>>3%4]
			continue
		}
		kind := []string{TypeRegistered, available}[b%2]
		if !seen[kind] {
			seen[kind] = true
			conditions = append(conditions, condition(kind, []string{"True", "False"}[b>>1%2], ""))
		}
		if b>>2%3 == 1 && !seen[rule.TypeProbe] {
			seen[rule.TypeProbe] = true
			conditions = append(conditions, probe(rule.FormPolicy))
		}
	}
	shaped := addOn(gate, conditions...)
	if held != "" {
		shaped = related(shaped, held)
	}
	return []byte(deploying(shaped, references...))
}

func compiled(t testing.TB) *guardpolicy.Policy {
	t.Helper()
	policy, err := guardpolicy.New(&Rule)
	if err != nil {
		t.Fatal(err)
	}
	return policy
}

func compareForms(t *testing.T, policy *guardpolicy.Policy, storedJSON, update []byte) {
	t.Helper()
	patch, err := Mutate(storedJSON, update, policy.DryRun)
	if err != nil {
		t.Fatal(err)
	}
	stored, matched, err := policy.Mutate(t.Context(), object(t, storedJSON), object(t, update))
	if err != nil {
		t.Fatal(err)
	}
	want := object(t, update)
	for _, operation := range patch {
		var index int
		if operation.Operation == "replace" {
			restoreIn(t, want, operation)
			continue
		}
		if _, err := fmt.Sscanf(operation.Path, "/status/conditions/%d", &index); err != nil {
			t.Fatal(err)
		}
		conditions, _, _ := unstructured.NestedSlice(want.Object, "status", "conditions")
		conditions = append(conditions[:index:index], conditions[index+1:]...)
		if err := unstructured.SetNestedSlice(want.Object, conditions, "status", "conditions"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want.Object, stored.Object); diff != "" || matched != (patch != nil) {
		t.Errorf("the policy matches: %t; the function changes %v (-function +policy)\n%s", matched, patch, diff)
	}
}

func object(t *testing.T, content []byte) *unstructured.Unstructured {
	t.Helper()
	decoded := &unstructured.Unstructured{Object: map[string]any{}}
	if err := json.Unmarshal(content, &decoded.Object); err != nil {
		t.Fatal(err)
	}
	decoded.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
	decoded.SetKind("ManagedClusterAddOn")
	return decoded
}
