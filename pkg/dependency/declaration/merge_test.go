package declaration

import (
	"fmt"
	"maps"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// elements return the elements of each list of a declaration, with the fields that an edit can see.
var elements = map[string]func(i int) map[string]any{
	"dependencies": func(i int) map[string]any {
		return map[string]any{"name": fmt.Sprint("a", i), "type": "Required"}
	},
	"provides": func(i int) map[string]any {
		return map[string]any{"group": fmt.Sprint("g", i/2), "kind": fmt.Sprint("K", i%2)}
	},
}

// FuzzKeep edits lists of eight elements. The record has fields that the edit cannot
// see. Each character of edit selects an element that stays. All others are removed.
func FuzzKeep(f *testing.F) {
	for _, seed := range []string{"", "01234567", "10", "7", "7654", "0340", "246"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, edit string) {
		for field, visible := range elements {
			var stored, recorded, updated, want []any
			whole := func(i int) map[string]any {
				element := visible(i)
				element["later"] = i
				return element
			}
			for i := range 8 {
				stored, recorded = append(stored, visible(i)), append(recorded, whole(i))
			}
			listed := map[int]bool{}
			for _, character := range edit {
				i := int(character) % 8
				if listed[i] {
					continue
				}
				listed[i] = true
				edited, wanted := visible(i), whole(i)
				if field == "dependencies" {
					edited["type"], wanted["type"] = "Optional", "Optional"
				}
				updated, want = append(updated, edited), append(want, wanted)
			}
			expectKept(t, field, stored, recorded, updated, want)
		}
	})
}

func expectKept(t *testing.T, field string, storedList, recorded, updatedList, want []any) {
	t.Helper()
	record, err := encode(map[string]any{field: recorded})
	if err != nil {
		t.Fatal(err)
	}
	annotations := (Written{}).with(record, digest(record))
	stored := Written{Annotations: annotations, Fields: map[string]any{field: storedList}}
	written := Written{Annotations: maps.Clone(annotations), Fields: map[string]any{field: updatedList}}
	kept, problem := Keep(&stored, written, func() bool { return true })
	text := ""
	if len(want) > 0 {
		if text, err = encode(map[string]any{field: want}); err != nil {
			t.Fatal(err)
		}
	}
	if got := kept[addonv1alpha1.DependenciesAnnotation]; got != text || problem != "" {
		t.Errorf("%s\n got %s\nwant %s", problem, got, text)
	}
}
