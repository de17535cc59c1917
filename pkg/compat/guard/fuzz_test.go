package guard

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// FuzzMutateHolds checks the rule for any stored and written conditions: Available is False for the
// reason of Degraded while a Required dependency fails, unless the cluster is
// lost. No other condition changes, and a second mutation changes nothing.
func FuzzMutateHolds(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{0, 1, 2, 3}, []byte{3, 2, 1, 0})
	f.Add([]byte{1, 40, 80}, []byte{0, 64, 129, 250})
	f.Fuzz(func(t *testing.T, stored, written []byte) {
		update := shaped(written)
		storedJSON, updateJSON := encoded(t, shaped(stored)), encoded(t, update)
		patch, err := Mutate(storedJSON, updateJSON)
		if err != nil {
			t.Fatal(err)
		}
		result := shaped(written)
		for _, operation := range patch {
			replace(t, result, operation.Path, operation.Value)
		}
		if violates(result) {
			t.Errorf("Available does not follow Degraded: %s", encoded(t, result))
		}
		if (len(patch) > 0) != violates(update) {
			t.Errorf("change %v of %s", patch, updateJSON)
		}
		for i := range update {
			if update[i]["type"] != TypeAvailable && !reflect.DeepEqual(update[i], result[i]) {
				t.Errorf("condition %d changed from %v to %v", i, update[i], result[i])
			}
		}
		if second, err := Mutate(storedJSON, encoded(t, result)); err != nil || second != nil {
			t.Errorf("a second look: %v, %v", second, err)
		}
		// The same write to the new stored object has the same result.
		repeatedPatch, err := Mutate(encoded(t, result), updateJSON)
		if err != nil {
			t.Fatal(err)
		}
		repeated := shaped(written)
		for _, operation := range repeatedPatch {
			replace(t, repeated, operation.Path, operation.Value)
		}
		if !reflect.DeepEqual(repeated, result) {
			t.Errorf("the same write again makes %v of %v", repeated, result)
		}
	})
}

// FuzzMutateSurvives checks that no input causes a panic.
func FuzzMutateSurvives(f *testing.F) {
	for _, test := range mutations {
		f.Add([]byte(test.stored), []byte(test.update))
	}
	f.Fuzz(func(_ *testing.T, stored, update []byte) {
		_, _ = Mutate(stored, update)
	})
}

// shaped makes a list of conditions from bytes. It has each type at most once, in
// any order, as the list's schema demands.
func shaped(bytes []byte) []map[string]any {
	conditions := []map[string]any{} // never null: the API server stores no null list
	seen := map[string]bool{}
	pick := func(b byte, shift int, values ...string) string { return values[int(b>>shift)%len(values)] }
	for _, b := range bytes {
		kind := pick(b, 0, TypeAvailable, TypeDegraded, "Progressing")
		if seen[kind] {
			continue
		}
		seen[kind] = true
		conditions = append(conditions, map[string]any{
			"type":               kind,
			"status":             pick(b, 1, "True", "False", "Unknown"),
			"reason":             pick(b, 2, Reason, "Other", ReasonLost),
			"message":            pick(b, 3, "<a> & b", "ü", ""),
			"lastTransitionTime": pick(b, 4, early, late, lateThere),
		})
	}
	return conditions
}

func encoded(t *testing.T, conditions []map[string]any) []byte {
	t.Helper()
	content, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions}})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func replace(t *testing.T, conditions []map[string]any, path string, value any) {
	t.Helper()
	var index int
	if _, err := fmt.Sscanf(path, "/status/conditions/%d", &index); err != nil || index >= len(conditions) {
		t.Fatalf("path %q: %v", path, err)
	}
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	conditions[index] = exactly(t, string(content))
}

func violates(conditions []map[string]any) bool {
	find := func(kind string) map[string]any {
		for _, c := range conditions {
			if c["type"] == kind {
				return c
			}
		}
		return nil
	}
	degraded, available := find(TypeDegraded), find(TypeAvailable)
	switch {
	case degraded == nil || available == nil || degraded["status"] != "True" || degraded["reason"] != Reason:
		return false
	case available["status"] == "Unknown" && available["reason"] == ReasonLost:
		return false
	default:
		return available["status"] != "False" || available["reason"] != Reason || available["message"] != degraded["message"]
	}
}
