package manifest_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/manifests"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/interlock/pkg/apis/addon/v1beta1"
)

// A field in only one version would be lost in the other, without an error.
func TestBothVersionsDeclareTheSameFields(t *testing.T) {
	for _, name := range addonv1alpha1.GraftedSpecFields() {
		alpha := tagged(t, reflect.TypeFor[addonv1alpha1.ClusterManagementAddOnSpec](), name)
		beta := tagged(t, reflect.TypeFor[addonv1beta1.ClusterManagementAddOnSpec](), name)
		if alpha.Type != beta.Type || alpha.Name != beta.Name || alpha.Tag != beta.Tag {
			t.Errorf("%s is %v in v1alpha1, and %v in v1beta1", name, alpha, beta)
		}
	}
	alpha, beta := reflect.TypeFor[addonv1alpha1.ClusterManagementAddOnSpec](), reflect.TypeFor[addonv1beta1.ClusterManagementAddOnSpec]()
	if alpha.NumField() != beta.NumField() {
		t.Errorf("the spec of v1alpha1 has %d fields, that of v1beta1 %d", alpha.NumField(), beta.NumField())
	}
}

func tagged(t *testing.T, spec reflect.Type, name string) reflect.StructField {
	t.Helper()
	for i := range spec.NumField() {
		if field := spec.Field(i); field.Tag.Get("json") == name+",omitempty" {
			return field
		}
	}
	t.Fatalf("%v has no field %s", spec, name)
	return reflect.StructField{}
}

// Both versions write a declaration alike, and conversion between them keeps it.
func TestBothVersionsSerializeTheSame(t *testing.T) {
	fill := randfill.NewWithSeed(1).NilChance(0.3).NumElements(0, 3).Funcs(
		// Its random values are no times that JSON can keep.
		func(*metav1.ObjectMeta, randfill.Continue) {},
	)
	for range 500 {
		beta := &addonv1beta1.ClusterManagementAddOn{}
		fill.Fill(&beta.Spec.Dependencies)
		fill.Fill(&beta.Spec.Requirements)
		fill.Fill(&beta.Spec.Provides)
		fill.Fill(&beta.Spec.Ordering)

		alpha, err := beta.AsV1alpha1()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range addonv1alpha1.GraftedSpecFields() {
			if diff := cmp.Diff(inJSON(t, alpha, name), inJSON(t, beta, name)); diff != "" {
				t.Fatalf("%s differs between the versions: %s", name, diff)
			}
		}
	}
}

func inJSON(t *testing.T, addOn any, field string) any {
	t.Helper()
	raw, err := json.Marshal(addOn)
	if err != nil {
		t.Fatal(err)
	}
	var decoded struct{ Spec map[string]any }
	if err := json.Unmarshal(raw, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded.Spec[field]
}

func TestTheCRDHasTheFieldsInBothVersions(t *testing.T) {
	raw, err := manifests.CRDs.ReadFile("crds/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema struct {
						Properties map[string]struct{ Properties map[string]any }
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		t.Fatal(err)
	}
	fields := map[string]any{}
	for _, version := range crd.Spec.Versions {
		for name, schema := range version.Schema.OpenAPIV3Schema.Properties["spec"].Properties {
			fields[fmt.Sprintf("%s of %s", name, version.Name)] = schema
		}
	}
	for _, name := range addonv1alpha1.GraftedSpecFields() {
		beta := fields[fmt.Sprintf("%s of %s", name, addonv1beta1.GroupVersion.Version)]
		if alpha := fields[name+" of v1alpha1"]; beta == nil || !cmp.Equal(alpha, beta) {
			t.Errorf("the CRD has another schema of %s in v1beta1 than in v1alpha1: %s", name, cmp.Diff(alpha, beta))
		}
	}
}
