package doctor

import (
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

const registrationCRD = "CustomResourceDefinition " + registration

func TestGraft(t *testing.T) {
	runCases(t, "graft", map[string]testCase{
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
			o[registrationCRD] = "{" + graftRecord + ", spec: {" + withoutField + "}}"
		}, []string{"✖ Grafting is on, and the CRD of ClusterManagementAddOns lacks the fields", "→ kubectl -n interlock-system logs"}},
		"overwritten": {func(o objects, _ *snapshot.Content) {
			o[registrationCRD] = "spec: {" + withoutField + "}"
			o["Lease interlock-addon-manager"] = `metadata: {annotations: {interlock.open-cluster-management.io/graft-crds: "true"}}`
		}, []string{"✖ Grafting is on"}},
	})
}

func TestRecords(t *testing.T) {
	declare := func(record bool, change func(*addonv1alpha1.ClusterManagementAddOn)) func(*snapshot.Content) {
		return func(c *snapshot.Content) {
			addOn := addonv1alpha1.ClusterManagementAddOn{}
			addOn.Name = "c"
			addOn.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "b"}}
			if record {
				addOn.Annotations = recordAnnotations(t)
			}
			change(&addOn)
			c.Registrations = append(c.Registrations, addOn)
		}
	}
	keepAll := func(*addonv1alpha1.ClusterManagementAddOn) {}
	loseFields := func(addOn *addonv1alpha1.ClusterManagementAddOn) { addOn.Spec.Dependencies = nil }
	replaceRecord := func(addOn *addonv1alpha1.ClusterManagementAddOn) {
		addOn.Annotations = map[string]string{addonv1alpha1.DependenciesAnnotation: "- name: x"}
	}
	onGraft := func(change func(*snapshot.Content)) func(objects, *snapshot.Content) {
		return func(_ objects, c *snapshot.Content) { change(c) }
	}
	onStockCRD := func(change func(*snapshot.Content)) func(objects, *snapshot.Content) {
		return func(o objects, c *snapshot.Content) {
			o[registrationCRD] = "spec: {" + withoutField + "}"
			change(c)
		}
	}
	runCases(t, "records", map[string]testCase{
		"recorded": {onGraft(declare(true, keepAll)), []string{"✔ No declaration can be lost with its fields: 1 of 3 add-ons declare by field"}},
		"not recorded": {onGraft(declare(false, keepAll)), []string{
			"✖ The fields of c are lost if another writer overwrites the CRD: neither", "→ kubectl -n interlock-system logs",
		}},
		"an annotation by hand that means another thing": {onGraft(declare(false, replaceRecord)), []string{
			"✖ The fields of c are lost", "→ kubectl annotate clustermanagementaddon c " + addonv1alpha1.DependenciesAnnotation + "-",
		}},
		"lost, and grafted":             {onGraft(declare(true, loseFields)), []string{"✖ c lacks fields that its record has"}},
		"lost, and not grafted":         {onStockCRD(declare(true, loseFields)), []string{"- c declares by its record"}},
		"not recorded, and not grafted": {onStockCRD(declare(false, keepAll)), []string{"✔"}},
	})
}

// recordAnnotations returns the annotations with the record that admission writes.
func recordAnnotations(t *testing.T) map[string]string {
	t.Helper()
	spec := map[string]any{"dependencies": []any{map[string]any{"name": "b", "type": "Required"}}}
	annotations, problem := declaration.Keep(nil, declaration.WrittenOf(nil, spec), nil)
	if problem != "" {
		t.Fatal(problem)
	}
	return annotations
}
