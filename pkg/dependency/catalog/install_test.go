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
	with := func(spec string) []addonv1alpha1.ClusterManagementAddOn {
		return append(slices.Clone(dependents), fixture.Specified(t, "base", spec))
	}
	one := `installStrategy: {type: Placements, placements: [{namespace: ns, name: a}]}`
	for name, test := range map[string]struct {
		before, after []addonv1alpha1.ClusterManagementAddOn
		want          []string
	}{
		"Same":         {with(placed), with(placed), nil},
		"Registered":   {dependents, with(manual), []string{"x", "y"}},
		"Unregistered": {with(manual), dependents, []string{"x", "y"}},
		"Strategy":     {with(manual), with(placed), []string{"x", "y"}},
		"Placements":   {with(placed), with(one), []string{"x", "y"}},
		"Declaration":  {with(placed), append(with(placed), fixture.Registration("w", fixture.Required("base"))), nil},
	} {
		before, after := New(test.before), New(test.after)
		if got := after.Reworded(before); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		changed := after.Changed(before)
		if changed = slices.DeleteFunc(changed, func(addOn string) bool { return addOn == "base" }); name != "Declaration" && len(changed) > 0 {
			t.Errorf("%s: the verdicts of %q could change", name, changed)
		}
	}
	self := fixture.Specified(t, "x", placed)
	self.Annotations = map[string]string{ocmv1alpha1.AddonLifecycleAnnotationKey: ocmv1alpha1.AddonLifecycleSelfManageAnnotationValue}
	if got := New([]addonv1alpha1.ClusterManagementAddOn{self}).Install("x"); !got.equal(Install{}) {
		t.Errorf("OCM installs what its own manager installs: %v", got)
	}
	changed := with(placed)[len(dependents)]
	if other := with(one)[len(dependents)]; Same(&changed, &other) {
		t.Error("a registration with another Placement is the same to a catalog")
	}
}

func TestWhatIsRegisteredMayNotBeKnown(t *testing.T) {
	addOns := fixture.Registrations("x: a")
	for name, test := range map[string]struct {
		catalog *Catalog
		addOn   string
		want    bool
	}{
		"OfAHub": {New(addOns), "a", true}, "Registered": {New(addOns), "x", false}, "OfSome": {Some(addOns), "a", false},
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
	in := func(names ...string) Install {
		install := Install{Placed: true}
		for _, name := range names {
			install.Placements = append(install.Placements, types.NamespacedName{Namespace: "ns", Name: name})
		}
		return install
	}
	for name, test := range map[string]struct {
		before, after Install
		want          bool
	}{
		"the same":             {in("a", "b"), in("a", "b"), false},
		"one more":             {in("a"), in("a", "b"), false},
		"one less":             {in("a", "b"), in("b"), true},
		"another":              {in("a"), in("b"), true},
		"none any more":        {in("a"), in(), true},
		"by hand after":        {in("a"), Install{Manual: true}, false},
		"by hand before":       {Install{Manual: true}, in("a"), true},
		"its own manager then": {in("a"), Install{}, false},
		"its own manager once": {Install{}, in("a"), true},
	} {
		if got := test.after.Drops(test.before); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
