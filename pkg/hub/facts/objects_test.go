package facts

import (
	"slices"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/test/fixture"
)

const countsWidgets = `{"objects":[{"group":"a.io","kind":"Gadget"},{"group":"a.io","kind":"Widget"}]}`

// provider returns a registration of base that declares only the kinds that it provides.
func provider(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.declare(
		fixture.Specified(t, "base",
			"provides: [{group: a.io, kind: Widget, version: v2}, {group: a.io, kind: Gadget}, {group: a.io, kind: Widget, version: v1}]"),
		registeredAddOn("api"), registeredAddOn("version"), registeredAddOn("plain"))
	return b
}

func (b *bench) declare(registrations ...addonv1alpha1.ClusterManagementAddOn) {
	b.Declarations.Set(evaluation.New(b.Declarations.Current().Renew(registrations, catalog.Templates{})))
}

func TestObjectsOfProvidedKindsAreCounted(t *testing.T) {
	b := provider(t)
	b.reconcile(t)
	if !slices.Equal(b.applies, []string{`{"addOns":[],"apis":[],` + strings.TrimPrefix(countsWidgets, "{")}) {
		t.Fatalf("requested %v", b.applies)
	}
	b.object = &facts{}
	b.object.Spec.Objects = []dependencyv1alpha1.ObjectKind{{Group: "a.io", Kind: "Gadget"}, {Group: "a.io", Kind: "Widget"}}
	b.object.Namespace, b.object.Name, b.object.Generation = cluster, cluster, 1
	b.reconcile(t)
	if len(b.applies) != 1 || b.deletes != 0 {
		t.Errorf("requested what is requested already: %v, %d deleted", b.applies, b.deletes)
	}
	if b.evaluated(); len(b.evaluated()) > 0 {
		t.Error("evaluates add-ons because of objects")
	}
	if got := phase(snapshot{state: Served, object: b.object}, needs{}); got != metrics.FactsNone {
		t.Errorf("no verdict waits for objects, and the phase is %v", got)
	}

	b.declare(fixture.Annotated("base", "{"), registeredAddOn("api"), registeredAddOn("version"), registeredAddOn("plain"))
	b.reconcile(t)
	if len(b.applies) != 1 || b.deletes != 0 {
		t.Errorf("while the declaration is invalid: requested %v, %d deleted", b.applies, b.deletes)
	}
	b.declare(registeredAddOn("base"), registeredAddOn("api"), registeredAddOn("version"), registeredAddOn("plain"))
	b.reconcile(t)
	if len(b.applies) != 1 || b.deletes != 1 {
		t.Errorf("nothing is provided any more: requested %v, %d deleted", b.applies, b.deletes)
	}
}

func TestNothingIsCountedWhereTheProviderIsNotInstalled(t *testing.T) {
	b := provider(t)
	if err := b.hub.Delete(t.Context(), installedAddOn("base")); err != nil {
		t.Fatal(err)
	}
	b.reconcile(t)
	if len(b.applies) != 0 {
		t.Errorf("requested %v", b.applies)
	}
}

// The CRD of an earlier Interlock lacks the field objects. Where it has the field, their removal is written.
func TestObjectsAreRequestedInBoundsAndRetracted(t *testing.T) {
	var stay []dependencyv1alpha1.ObjectKind
	for range 2 * dependencyv1alpha1.MaxRequests {
		stay = append(stay, dependencyv1alpha1.ObjectKind{Kind: strings.Repeat("K", len(stay)+1)})
	}
	if got := countedKinds(catalog.New(nil), catalog.Installed{}, stay); len(got) != dependencyv1alpha1.MaxRequests {
		t.Errorf("requests %d kinds", len(got))
	}
	if _, ok := emptySpec(nil)["objects"]; ok {
		t.Error("writes objects where there are none")
	}
	b := newBench(t)
	b.reports(status{})
	b.object.Spec.Objects = stay[:1]
	b.reconcile(t)
	if len(b.applies) != 1 || !strings.Contains(b.applies[0], `"objects":[]`) {
		t.Errorf("requested %v", b.applies)
	}
}
