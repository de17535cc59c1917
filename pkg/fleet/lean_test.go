package fleet

import (
	"slices"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func TestLeanAddOnKeepsOnlyInterlocksFinalizer(t *testing.T) {
	const ours, theirs = addonv1alpha1.WaitForDependentsFinalizer, "example.com/theirs"
	for _, test := range []struct{ finalizers, want []string }{
		{nil, nil}, {[]string{theirs}, nil}, {[]string{theirs, ours}, []string{ours}},
	} {
		full := &addonv1alpha1.ManagedClusterAddOn{}
		full.Finalizers = test.finalizers
		if got := LeanAddOn(full).Finalizers; !slices.Equal(got, test.want) {
			t.Errorf("of %v: %v", test.finalizers, got)
		}
	}
}
