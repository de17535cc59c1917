package witness

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A list and a watch are two requests. Either may be the first to show a change between them.
func TestMissing(t *testing.T) {
	object := Object{addOns, "cluster1", "app"}
	version := func(version string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind":     "ManagedClusterAddOn",
			"metadata": map[string]any{"namespace": object.Namespace, "name": object.Name, "resourceVersion": version},
		}}
	}
	onWatch := " of managedclusteraddons cluster1/app on its watch"
	listed := list{addOns, 9, map[Object]uint64{object: 7}}
	unlisted := list{addOns, 9, map[Object]uint64{}}
	for name, test := range map[string]struct {
		seen    []string
		deleted string
		stored  list

		missing string
	}{
		"the watch is behind the list":                {[]string{"5"}, "", listed, "version 7" + onWatch},
		"the watch has not begun":                     {nil, "", listed, "version 7" + onWatch},
		"the watch has the list's version":            {[]string{"5", "7"}, "", listed, ""},
		"the watch is before the list":                {[]string{"5", "7", "10"}, "", listed, ""},
		"it was deleted after it was listed":          {[]string{"7"}, "10", listed, ""},
		"another was made and deleted after the list": {[]string{"11"}, "12", listed, ""},
		"the watch lacks a deletion":                  {[]string{"7"}, "", unlisted, "the deletion" + onWatch},
		"the watch has the deletion":                  {[]string{"7"}, "8", unlisted, ""},
		"the object was made after the list":          {[]string{"10"}, "", unlisted, ""},
		"the listed object was created again":         {[]string{"2"}, "4", listed, "version 7" + onWatch},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Witness{latest: map[Object]State{}, reached: map[Object]uint64{}}
			for _, seen := range test.seen {
				w.receive(addOns, version(seen), false)
			}
			if test.deleted != "" {
				w.receive(addOns, version(test.deleted), true)
			}
			if missing := w.missing([]list{test.stored}); missing != test.missing {
				t.Errorf("missing %q, want %q", missing, test.missing)
			}
		})
	}
}
