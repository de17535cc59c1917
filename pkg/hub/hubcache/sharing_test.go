package hubcache

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
)

func labeled(labels map[string]string, configs ...string) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	addOn.Labels = labels
	for _, name := range configs {
		addOn.Status.ConfigReferences = append(addOn.Status.ConfigReferences, reference(configResource, "configs", name, name))
	}
	return addOn
}

func running(template, desired string) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	addOn.Status.ConfigReferences = append(addOn.Status.ConfigReferences, reference(templateResource, "", desired, template))
	return addOn
}

func samePointer(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }

func TestSharing(t *testing.T) {
	var s sharing
	first := s.managedClusterAddOn(labeled(map[string]string{"a": "b", "c": "d"}, "x", "y"))
	equal := s.managedClusterAddOn(labeled(map[string]string{"c": "d", "a": "b"}, "x", "y"))
	if !samePointer(first.Labels, equal.Labels) || !samePointer(first.Status.ConfigReferences, equal.Status.ConfigReferences) {
		t.Error("equal values are not shared")
	}
	for _, candidate := range []*addonv1alpha1.ManagedClusterAddOn{
		labeled(map[string]string{"a": "b", "c": "e"}, "y", "x"), labeled(map[string]string{"a": "bc", "": "d"}, "xy"),
		labeled(nil), labeled(map[string]string{}),
		running("x", "x"), running("x", "y"), running("y", "x"),
	} {
		want := fleet.LeanAddOn(candidate)
		if diff := cmp.Diff(want, s.managedClusterAddOn(candidate)); diff != "" {
			t.Errorf("another value is not kept as it is: %s", diff)
		}
	}
}

func TestPoolSharesOnlyWhatIsEqual(t *testing.T) {
	var p pool[[]int]
	first := p.share(1, []int{1}, slices.Equal)
	if !samePointer(first, p.share(1, []int{1}, slices.Equal)) {
		t.Error("an equal value is not shared")
	}
	if got := p.share(1, []int{2}, slices.Equal); !slices.Equal(got, []int{2}) {
		t.Errorf("another value with the same sum became %v", got)
	}
}

func TestPoolIsBounded(t *testing.T) {
	var p pool[uint64]
	for i := range uint64(3 * poolSize) {
		if got := p.share(i, i, func(a, b uint64) bool { return a == b }); got != i {
			t.Fatalf("%d became %d", i, got)
		}
	}
	if len(p.values) > poolSize {
		t.Errorf("it holds %d", len(p.values))
	}
}
