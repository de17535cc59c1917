package v1alpha1

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestGraftedSpecFields tests that the list has all fields that the types add. The
// CRD would prune a missing field, and the conversion would lose it.
func TestGraftedSpecFields(t *testing.T) {
	var added []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[ClusterManagementAddOnSpec]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && len(field.Index) == 1 {
			added = append(added, name)
		}
	}
	if !slices.Equal(added, GraftedSpecFields()) {
		t.Errorf("the types add %q, the list names %q", added, GraftedSpecFields())
	}
}
