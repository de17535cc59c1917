package doctor

import (
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

const registrationCRD = "CustomResourceDefinition " + registration

func TestGraft(t *testing.T) {
	try(t, "graft", map[string]changed{
		"grafted": {nil, []string{"✔ OCM's CRD is grafted"}},
		"a CRD of one's own": {
			func(o objects, _ *snapshot.Content) { o[registrationCRD] = "spec: {" + withField + "}" },
			[]string{"✔ The CRD of ClusterManagementAddOns has the fields of its own"},
		},
		"not grafted": {
			func(o objects, _ *snapshot.Content) { o[registrationCRD] = "spec: {" + withoutField + "}" },
			[]string{"- OCM's CRD is not grafted", "→ docs/install.md#specdependencies-on-a-stock-hub"},
		},
		"overwritten by a writer that merges": {func(o objects, _ *snapshot.Content) {
			o[registrationCRD] = "{" + byGraft + ", spec: {" + withoutField + "}}"
		}, []string{"✖ Grafting is on, and the CRD of ClusterManagementAddOns lacks the fields", "→ kubectl -n interlock-system logs"}},
		"overwritten": {func(o objects, _ *snapshot.Content) {
			o[registrationCRD] = "spec: {" + withoutField + "}"
			o["Lease interlock-addon-manager"] = `metadata: {annotations: {interlock.open-cluster-management.io/graft-crds: "true"}}`
		}, []string{"✖ Grafting is on"}},
	})
}

func TestRecords(t *testing.T) {
	declared := func(record bool, change func(*addonv1alpha1.ClusterManagementAddOn)) func(*snapshot.Content) {
		return func(c *snapshot.Content) {
			one := addonv1alpha1.ClusterManagementAddOn{}
			one.Name = "c"
			one.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "b"}}
			if record {
				one.Annotations = recordOf(t)
			}
			change(&one)
			c.Registrations = append(c.Registrations, one)
		}
	}
	nothing := func(*addonv1alpha1.ClusterManagementAddOn) {}
	loses := func(c *addonv1alpha1.ClusterManagementAddOn) { c.Spec.Dependencies = nil }
	other := func(c *addonv1alpha1.ClusterManagementAddOn) {
		c.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "- name: x"}
	}
	onGraft := func(change func(*snapshot.Content)) func(objects, *snapshot.Content) {
		return func(_ objects, c *snapshot.Content) { change(c) }
	}
	stock := func(change func(*snapshot.Content)) func(objects, *snapshot.Content) {
		return func(o objects, c *snapshot.Content) {
			o[registrationCRD] = "spec: {" + withoutField + "}"
			change(c)
		}
	}
	try(t, "records", map[string]changed{
		"recorded": {onGraft(declared(true, nothing)), []string{"✔ No declaration can be lost with its fields: 1 of 3 add-ons declare by field"}},
		"not recorded": {onGraft(declared(false, nothing)), []string{
			"✖ The fields of c are lost if another writer overwrites the CRD: neither", "→ kubectl -n interlock-system logs",
		}},
		"an annotation by hand that means another thing": {onGraft(declared(false, other)), []string{
			"✖ The fields of c are lost", "→ kubectl annotate clustermanagementaddon c " + addonv1alpha1.DependenciesAnnotation + "-",
		}},
		"lost, and grafted":             {onGraft(declared(true, loses)), []string{"✖ c lacks fields that its record has"}},
		"lost, and not grafted":         {stock(declared(true, loses)), []string{"- c declares by its record"}},
		"not recorded, and not grafted": {stock(declared(false, nothing)), []string{"✔"}},
	})
}

// recordOf is the record that admission writes.
func recordOf(t *testing.T) map[string]string {
	t.Helper()
	spec := map[string]any{"dependencies": []any{map[string]any{"name": "b", "type": "Required"}}}
	annotations, problem := declaration.Keep(nil, declaration.WrittenOf(nil, spec), nil)
	if problem != "" {
		t.Fatal(problem)
	}
	return annotations
}
