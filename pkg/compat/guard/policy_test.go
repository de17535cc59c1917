package guard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/test/guardpolicy"
)

// The two forms are one rule: the API server's own evaluation of policy.yaml
// stores the same as the webhook's function.

func TestPolicyDoesTheSame(t *testing.T) {
	policy := compiled(t)
	for _, test := range mutations {
		if strings.Contains(test.stored, "9007199254740993") {
			continue // CEL writes a number beyond 2^53 as a string, but conditions have no such numbers
		}
		t.Run(test.name, func(t *testing.T) { compareForms(t, policy, []byte(test.stored), []byte(test.update)) })
	}
}

func FuzzPolicyDoesTheSame(f *testing.F) {
	policy := compiled(f)
	f.Add([]byte{}, []byte{})
	f.Add([]byte{0, 1, 2, 3}, []byte{3, 2, 1, 0})
	f.Add([]byte{1, 40, 80}, []byte{0, 64, 129, 250})
	f.Fuzz(func(t *testing.T, stored, written []byte) {
		compareForms(t, policy, encoded(t, shaped(stored)), encoded(t, shaped(written)))
	})
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
	if len(storedJSON) == 0 {
		storedJSON = []byte(`{}`) // the API server has an old object of every update
	}
	patch, err := Mutate(storedJSON, update)
	if err != nil {
		t.Fatal(err)
	}
	stored, matched, err := policy.Mutate(t.Context(), object(t, storedJSON), object(t, update))
	if err != nil && patch == nil {
		return // conditions that are null: the failure policy lets the write pass
	}
	if err != nil {
		t.Fatal(err)
	}
	if matched != (patch != nil) {
		t.Errorf("the policy matches: %t; the function changes %v", matched, patch)
	}
	want := object(t, update)
	for _, operation := range patch {
		conditions, _, _ := unstructured.NestedSlice(want.Object, "status", "conditions")
		var index int
		if _, err := fmt.Sscanf(operation.Path, "/status/conditions/%d", &index); err != nil {
			t.Fatal(err)
		}
		content, err := json.Marshal(operation.Value)
		if err != nil {
			t.Fatal(err)
		}
		conditions[index] = object(t, content).Object
		delete(conditions[index].(map[string]any), "kind")
		delete(conditions[index].(map[string]any), "apiVersion")
		if err := unstructured.SetNestedSlice(want.Object, conditions, "status", "conditions"); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want.Object, stored.Object); diff != "" {
		t.Errorf("function and policy differ (-function +policy)\n%s", diff)
	}
}

// object decodes JSON like the API server, and sets the kind.
func object(t *testing.T, content []byte) *unstructured.Unstructured {
	t.Helper()
	decoded := &unstructured.Unstructured{Object: map[string]any{}}
	if err := json.Unmarshal(content, &decoded.Object); err != nil {
		t.Fatal(err)
	}
	decoded.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
	decoded.SetKind("ManagedClusterAddOn")
	content, err := decoded.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := decoded.UnmarshalJSON(content); err != nil {
		t.Fatal(err)
	}
	return decoded
}
