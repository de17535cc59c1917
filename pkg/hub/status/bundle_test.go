package status

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

const isTrue, isFalse, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown

func newBundle(t *testing.T, bundle, lost bool, addOns ...client.Object) *lifecycleHub {
	t.Helper()
	registration := fixture.Registration("leaf", fixture.Required("base"))
	if bundle {
		metav1.SetMetaDataAnnotation(&registration.ObjectMeta, addonv1alpha1.BundleAnnotation, "true")
	}
	return newLifecycleHub(t, []addonv1alpha1.ClusterManagementAddOn{registration}, nil, lost, addOns...)
}

func TestBundles(t *testing.T) {
	available := func(status metav1.ConditionStatus, reason string) metav1.Condition {
		return since("Available", status, reason, "")
	}
	degraded := since("Degraded", isTrue, "RequiredDependencyNotSatisfied", "base is down")
	base := addOn("base", available(isTrue, "Fine"))
	const customized, lease = ocmv1alpha1.HealthCheckModeCustomized, ocmv1alpha1.HealthCheckModeLease
	for name, test := range map[string]struct {
		bundle, lost bool
		addOns       []client.Object
		want         string // begins with
		mode         ocmv1alpha1.HealthCheckMode
		writes       int
	}{
		"Available": {true, false, []client.Object{addOn("leaf"), base}, "True BundleAvailable", customized, 1},
		"NoLease": {
			true, false,
			[]client.Object{addOn("leaf", available(unknown, "ManagedClusterAddOnLeaseNotFound")), base},
			"True BundleAvailable", customized, 1,
		},
		"Fails": {
			true, false,
			[]client.Object{addOn("leaf", degraded)},
			"False RequiredDependencyNotSatisfied Required addon 'base' is not",
			customized, 1,
		},
		"Follows": {
			true, false,
			[]client.Object{addOn("leaf", available(isTrue, "BundleAvailable"))},
			"False RequiredDependencyNotSatisfied Required addon 'base' is not", customized, 1,
		},
		"Lost": {
			true, true,
			[]client.Object{addOn("leaf", available(unknown, "ManagedClusterLeaseUpdateStopped"))},
			"Unknown ManagedCluster", "", 0,
		},
		"NoBundle": {false, false, []client.Object{addOn("leaf", available(isTrue, "Fine")), base}, "True Fine", "", 0},
		"FormerBundle": {
			false, false, []client.Object{addOn("leaf", available(isTrue, "BundleAvailable")), base}, "Unknown BundleReleased", lease, 1,
		},
		"WithoutStatus": {false, false, []client.Object{addOn("leaf"), base}, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range test.addOns {
				test.addOns[i] = test.addOns[i].DeepCopyObject().(client.Object)
			}
			hub := newBundle(t, test.bundle, test.lost, test.addOns...)
			addOn, got := hub.settle(t), ""
			if condition := fleet.Available(addOn); condition != nil {
				got = string(condition.Status) + " " + condition.Reason + " " + condition.Message
			}
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" || addOn.Status.HealthCheck.Mode != test.mode ||
				len(hub.writes) != test.writes {
				t.Errorf("%q, mode %q, %d writes", got, addOn.Status.HealthCheck.Mode, len(hub.writes))
			}
		})
	}
}

func newAvailable(t *testing.T) *lifecycleHub {
	t.Helper()
	base := addOn("base", since("Available", isTrue, "Fine", ""))
	return newBundle(t, true, false, addOn("leaf"), base)
}

func TestFaultsAtBundles(t *testing.T) {
	faults(t, "conditions", "write Available=True/BundleAvailable of cluster1/leaf", newAvailable,
		func(leaf *addonv1alpha1.ManagedClusterAddOn) bool {
			available := fleet.Available(leaf)
			return available != nil && available.Status == isTrue
		})
}

// A writer that insists is followed at growing intervals.
func TestAWriterOfABundleIsNotFought(t *testing.T) {
	newAvailable(t).insist(t, since("Available", isFalse, "Mine", ""))
}
