package catalog

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

const (
	manual  = `installStrategy: {type: Manual}`
	nowhere = `installStrategy: {type: Placements}`
	placed  = `installStrategy: {type: Placements, placements: [{namespace: ns, name: b}, {namespace: ns, name: a}]}`
)

func TestInstall(t *testing.T) {
	a, b := types.NamespacedName{Namespace: "ns", Name: "a"}, types.NamespacedName{Namespace: "ns", Name: "b"}
	for name, test := range map[string]struct {
		spec string
		want Install
	}{
		"NotSaid":  {`{}`, Install{}}, // a CRD has Manual by default
		"Manual":   {manual, Install{Manual: true}},
		"Nowhere":  {nowhere, Install{Placed: true}},
		"Placed":   {placed, Install{Placed: true, Placements: []types.NamespacedName{a, b}}},
		"Leftover": {`installStrategy: {type: Manual, placements: [{namespace: ns, name: a}]}`, Install{Manual: true}},
	} {
		c := New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", test.spec)})
		if diff := cmp.Diff(test.want, c.Install("x")); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
}

// Where only the way of installing changes, dependents have the same verdicts in other words.
func TestReworded(t *testing.T) {
	dependents := fixture.Registrations("x: base, y: base?, z: other, other:")
	registered := func(spec string) []addonv1alpha1.ClusterManagementAddOn {
		return append(slices.Clone(dependents), fixture.Specified(t, "base", spec))
	}
	byPlacement := `installStrategy: {type: Placements, placements: [{namespace: ns, name: a}]}`
	for name, test := range map[string]struct {
		previous, current []addonv1alpha1.ClusterManagementAddOn
		want              []string
	}{
		"Same":         {registered(placed), registered(placed), nil},
		"Registered":   {dependents, registered(manual), []string{"x", "y"}},
		"Unregistered": {registered(manual), dependents, []string{"x", "y"}},
		"Strategy":     {registered(manual), registered(placed), []string{"x", "y"}},
		"Placements":   {registered(placed), registered(byPlacement), []string{"x", "y"}},
		"Declaration":  {registered(placed), append(registered(placed), fixture.Registration("w", fixture.Required("base"))), nil},
	} {
		previous, current := New(test.previous), New(test.current)
		if got := current.Reworded(previous); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		changed := current.Changed(previous)
		if changed = slices.DeleteFunc(changed, func(addOn string) bool { return addOn == "base" }); name != "Declaration" && len(changed) > 0 {
			t.Errorf("%s: the verdicts of %q could change", name, changed)
		}
	}
	self := fixture.Specified(t, "x", placed)
	self.Annotations = map[string]string{ocmv1alpha1.AddonLifecycleAnnotationKey: ocmv1alpha1.AddonLifecycleSelfManageAnnotationValue}
	if got := New([]addonv1alpha1.ClusterManagementAddOn{self}).Install("x"); !got.equal(Install{}) {
		t.Errorf("OCM installs what its own manager installs: %v", got)
	}
	changed := registered(placed)[len(dependents)]
	if unchanged := registered(byPlacement)[len(dependents)]; SameRegistration(&changed, &unchanged) {
		t.Error("a registration with another Placement is the same to a catalog")
	}
}

func TestPartialCatalogs(t *testing.T) {
	addOns := fixture.Registrations("x: a")
	for name, test := range map[string]struct {
		catalog *Catalog
		addOn   string
		want    bool
	}{
		"OfAHub": {New(addOns), "a", true}, "Registered": {New(addOns), "x", false}, "OfSome": {NewPartial(addOns), "a", false},
	} {
		if got := test.catalog.Unregistered(test.addOn); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestPlacedBy(t *testing.T) {
	c := New(append(fixture.Registrations("x: base"), fixture.Specified(t, "base", placed), fixture.Specified(t, "alone", placed)))
	for key, want := range map[types.NamespacedName][]string{
		{Namespace: "ns", Name: "a"}:    {"base"},
		{Namespace: "other", Name: "a"}: nil,
	} {
		if got := c.PlacedBy(key); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
}

func TestDrops(t *testing.T) {
	placedIn := func(names ...string) Install {
		install := Install{Placed: true}
		for _, name := range names {
			install.Placements = append(install.Placements, types.NamespacedName{Namespace: "ns", Name: name})
		}
		return install
	}
	for name, test := range map[string]struct {
		previous, current Install
		want              bool
	}{
		"the same":             {placedIn("a", "b"), placedIn("a", "b"), false},
		"one more":             {placedIn("a"), placedIn("a", "b"), false},
		"one less":             {placedIn("a", "b"), placedIn("b"), true},
		"another":              {placedIn("a"), placedIn("b"), true},
		"none any more":        {placedIn("a"), placedIn(), true},
		"by hand after":        {placedIn("a"), Install{Manual: true}, false},
		"by hand before":       {Install{Manual: true}, placedIn("a"), true},
		"its own manager then": {placedIn("a"), Install{}, false},
		"its own manager once": {Install{}, placedIn("a"), true},
	} {
		if got := test.current.Drops(test.previous); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
