package v1alpha1

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A field that is missing from the list would be pruned by the CRD, and lost
// in conversion.
func TestGraftedSpecFieldsAreAllThatTheTypesAdd(t *testing.T) {
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
