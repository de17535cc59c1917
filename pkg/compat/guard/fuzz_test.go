package guard

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// FuzzMutateHolds: whatever is stored and written, Available is False for the
// reason of Degraded while a Required dependency fails, unless the cluster is
// lost. No other condition changes, and a second mutation changes nothing more.
func FuzzMutateHolds(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{0, 1, 2, 3}, []byte{3, 2, 1, 0})
	f.Add([]byte{1, 40, 80}, []byte{0, 64, 129, 250})
	f.Fuzz(func(t *testing.T, stored, written []byte) {
		before, after := shaped(stored), shaped(written)
		beforeJSON, afterJSON := encoded(t, before), encoded(t, after)
		patch, err := Mutate(beforeJSON, afterJSON)
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
		if (len(patch) > 0) != violates(after) {
			t.Errorf("change %v of %s", patch, afterJSON)
		}
		for i := range after {
			if after[i]["type"] != TypeAvailable && !reflect.DeepEqual(after[i], result[i]) {
				t.Errorf("condition %d changed from %v to %v", i, after[i], result[i])
			}
		}
		if again, err := Mutate(beforeJSON, encoded(t, result)); err != nil || again != nil {
			t.Errorf("a second look: %v, %v", again, err)
		}
		// What is stored now holds still against the same write.
		once, err := Mutate(encoded(t, result), afterJSON)
		if err != nil {
			t.Fatal(err)
		}
		still := shaped(written)
		for _, operation := range once {
			replace(t, still, operation.Path, operation.Value)
		}
		if !reflect.DeepEqual(still, result) {
			t.Errorf("the same write again makes %v of %v", still, result)
		}
	})
}

// FuzzMutateSurvives: no input makes it panic.
func FuzzMutateSurvives(f *testing.F) {
	for _, test := range mutations {
		f.Add([]byte(test.before), []byte(test.after))
	}
	f.Fuzz(func(_ *testing.T, before, after []byte) {
		_, _ = Mutate(before, after)
	})
}

// shaped makes a list of conditions of the bytes: each type at most once, in
// any order, as the list's schema demands.
func shaped(bytes []byte) []map[string]any {
	conditions := []map[string]any{} // never null: the API server stores no null list
	seen := map[string]bool{}
	pick := func(b byte, shift int, from ...string) string { return from[int(b>>shift)%len(from)] }
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
