package admission

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Every field that Interlock adds to the spec is reviewed.
func TestDecodeReadsEveryFieldOfOurs(t *testing.T) {
	var written addonv1alpha1.ClusterManagementAddOn
	spec := reflect.ValueOf(&written.Spec).Elem()
	set := 0
	for i := range spec.NumField() {
		field := spec.Field(i)
		switch {
		case spec.Type().Field(i).Anonymous: // the fields of OCM
			continue
		case field.Kind() == reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case field.Kind() == reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case field.Kind() == reflect.String:
			field.SetString("Install")
		default:
			t.Fatalf("no value for %s: add one here", spec.Type().Field(i).Name)
		}
		set++
	}
	raw, err := json.Marshal(&written)
	if err != nil {
		t.Fatal(err)
	}
	read, err := decode(raw)
	if err != nil || set == 0 {
		t.Fatalf("%d fields, %v", set, err)
	}
	if diff := cmp.Diff(written.Spec, read.Spec); diff != "" {
		t.Errorf("-written, +read:\n%s", diff)
	}
}
