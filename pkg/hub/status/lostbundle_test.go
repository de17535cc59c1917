package status

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

// OCM's hub reports the loss of a managed cluster on a bundle too. addon-manager replaces that report once the cluster is back.
func TestLossOfABundle(t *testing.T) {
	const lost, follows = "ManagedClusterLeaseUpdateStopped", "RequiredDependencyNotSatisfied"
	onBase := []addonv1alpha1.AddonDependency{fixture.Required("base")}
	for name, test := range map[string]struct {
		requires []addonv1alpha1.AddonDependency
		// cached and live are true if the cluster is lost according to the cache and the API server.
		cached, live bool
		base         bool
		want         string
	}{
		"Lost":                  {onBase, true, true, true, lost},
		"RequiresNothing":       {nil, true, true, false, lost},
		"RequiresNothing, back": {nil, false, false, false, "BundleAvailable"},
		"CacheIsBehind":         {onBase, false, true, true, lost},
		"CacheIsBehind, fails":  {onBase, false, true, false, lost},
		"Back":                  {onBase, false, false, true, "BundleAvailable"},
		"Back, fails":           {onBase, false, false, false, follows},
	} {
		t.Run(name, func(t *testing.T) {
			registration := fixture.Registration("leaf", test.requires...)
			metav1.SetMetaDataAnnotation(&registration.ObjectMeta, addonv1alpha1.BundleAnnotation, "true")
			addOns := []client.Object{addOn("leaf", since("Available", unknown, lost, ""))}
			if test.base {
				addOns = append(addOns, addOn("base", since("Available", isTrue, "Fine", "")))
			}
			registrations := []addonv1alpha1.ClusterManagementAddOn{registration}
			hub := newLifecycleHub(t, registrations, nil, test.cached, addOns...)
			hub.Live = newLifecycleHub(t, registrations, nil, test.live).WithWatch
			if got := fleet.Available(hub.settle(t)).Reason; got != test.want {
				t.Errorf("Available has reason %s", got)
			}
		})
	}
}
