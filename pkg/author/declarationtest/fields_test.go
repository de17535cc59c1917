package declarationtest_test

import (
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/author/declarationtest"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestFields(t *testing.T) {
	const lacking = "Required API 'Role.rbac.example.io' does not have the required fields. "
	hub := declarationtest.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(
		t, "roles", `dependencies: [{name: roles, api: {group: rbac.example.io, kind: Role, fields: [spec.a, spec.b]}}]`,
	)})
	anyVersion := addonv1alpha1.AddonAPI{Group: "rbac.example.io", Kind: "Role"}
	v1, v2 := anyVersion, anyVersion
	v1.Version, v2.Version = "v1", "v2"
	type fields = map[addonv1alpha1.AddonAPI][]string
	for name, test := range map[string]struct {
		apis   []addonv1alpha1.AddonAPI
		fields fields
		want   string
	}{
		"no schemas":                {[]addonv1alpha1.AddonAPI{v1, v2}, nil, ""},
		"no schemas and no version": {[]addonv1alpha1.AddonAPI{anyVersion}, nil, ""},
		"a version with all fields": {[]addonv1alpha1.AddonAPI{v1, v2}, fields{v1: nil, v2: {"spec.a", "spec.b", "spec.c"}}, ""},
		"no version with all fields": {
			[]addonv1alpha1.AddonAPI{v1, v2},
			fields{v1: {"spec.b"}, v2: nil},
			lacking + "(served in v1, v2, but no version has all fields: the schema of v1 has no field spec.a)",
		},
		"an older schema": {
			[]addonv1alpha1.AddonAPI{v1}, fields{v1: nil}, lacking + "(served, but its schema has no fields spec.a, spec.b)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := hub.Check("roles", cluster{APIs: test.apis, Fields: test.fields, AddOns: []addOn{{Name: "roles"}}})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if want := test.want; got != want && got != "roles: "+want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}
