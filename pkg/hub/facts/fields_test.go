package facts

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

func withFields(fields ...string) needs {
	return needs{APIs: []dependencyAPI{{AddonAPI: widgets, Fields: fields}}}
}

// An invalid declaration does not remove requested fields from the whole fleet.
func TestMergedFields(t *testing.T) {
	got := merge(withFields("spec.c", "spec.d"), specOf(withFields("spec.a", "spec.c")))
	if diff := cmp.Diff(withFields("spec.a", "spec.c", "spec.d").APIs, got.APIs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMoreFieldsThanAnObjectHolds(t *testing.T) {
	var needed needs
	for i := range dependencyv1alpha1.MaxFields/2 + 1 {
		api := dependencyAPI{AddonAPI: widgets, Fields: []string{"spec.a", "spec.b"}}
		api.Kind = "K" + strconv.Itoa(i)
		needed.APIs = append(needed.APIs, api)
	}
	spec, count := specOf(needed), 0
	for _, api := range spec.APIs {
		count += len(api.Fields)
	}
	if len(spec.APIs) != len(needed.APIs) || count != dependencyv1alpha1.MaxFields {
		t.Errorf("requests %d fields of %d APIs", count, len(spec.APIs))
	}
}
