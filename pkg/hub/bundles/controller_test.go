package bundles

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/actingbench"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

const isTrue, isFalse, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown

func newBench(t *testing.T, bundle, lost bool, addOns ...client.Object) (*actingbench.Hub, *Reconciler) {
	t.Helper()
	registered := fixture.Registration("leaf", fixture.Required("base"))
	if bundle {
		metav1.SetMetaDataAnnotation(&registered.ObjectMeta, addonv1alpha1.BundleAnnotation, "true")
	}
	hub := actingbench.New(t, []addonv1alpha1.ClusterManagementAddOn{registered}, nil, lost, addOns...)
	return hub, &Reconciler{hub.AddOns}
}

func TestReconcile(t *testing.T) {
	available := func(status metav1.ConditionStatus, reason string) metav1.Condition {
		return actingbench.Condition("Available", status, reason, "")
	}
	degraded := actingbench.Condition("Degraded", isTrue, "RequiredDependencyNotSatisfied", "base is down")
	base := actingbench.AddOn("base", available(isTrue, "Fine"))
	const customized, lease = ocmv1alpha1.HealthCheckModeCustomized, ocmv1alpha1.HealthCheckModeLease
	for name, test := range map[string]struct {
		bundle, lost bool
		addOns       []client.Object
		want         string // begins with
		mode         ocmv1alpha1.HealthCheckMode
		writes       int
	}{
		"Available": {true, false, []client.Object{actingbench.AddOn("leaf"), base}, "True BundleAvailable", customized, 1},
		"NoLease": {
			true, false,
			[]client.Object{actingbench.AddOn("leaf", available(unknown, "ManagedClusterAddOnLeaseNotFound")), base},
			"True BundleAvailable", customized, 1,
		},
		"Fails": {
			true, false, []client.Object{actingbench.AddOn("leaf", degraded)}, "False RequiredDependencyNotSatisfied base is down", customized, 1,
		},
		"NotDegraded": {
			true, false, []client.Object{actingbench.AddOn("leaf", available(isTrue, "BundleAvailable"))}, "True BundleAvailable", "", 0,
		},
		"Lost": {
			true, true,
			[]client.Object{actingbench.AddOn("leaf", available(unknown, "ManagedClusterLeaseUpdateStopped"))},
			"Unknown ManagedCluster", "", 0,
		},
		"NoBundle": {false, false, []client.Object{actingbench.AddOn("leaf", available(isTrue, "Fine")), base}, "True Fine", "", 0},
		"FormerBundle": {
			false, false, []client.Object{actingbench.AddOn("leaf", available(isTrue, "BundleAvailable")), base}, "Unknown BundleReleased", lease, 1,
		},
		"WithoutStatus": {false, false, []client.Object{actingbench.AddOn("leaf")}, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range test.addOns {
				test.addOns[i] = test.addOns[i].DeepCopyObject().(client.Object)
			}
			hub, r := newBench(t, test.bundle, test.lost, test.addOns...)
			found, got := hub.Settle(t, r), ""
			if one := fleet.Available(found); one != nil {
				got = string(one.Status) + " " + one.Reason + " " + one.Message
			}
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" || found.Status.HealthCheck.Mode != test.mode ||
				hub.Writes != test.writes {
				t.Errorf("%q, mode %q, %d writes", got, found.Status.HealthCheck.Mode, hub.Writes)
			}
		})
	}
}

func newAvailable(t *testing.T) (*actingbench.Hub, reconcile.Reconciler) {
	t.Helper()
	base := actingbench.AddOn("base", actingbench.Condition("Available", isTrue, "Fine", ""))
	return newBench(t, true, false, actingbench.AddOn("leaf"), base)
}

func TestFaults(t *testing.T) {
	actingbench.Faults(t, "write Available=True/BundleAvailable of bundle cluster1/leaf", newAvailable,
		func(leaf *addonv1alpha1.ManagedClusterAddOn) bool {
			available := fleet.Available(leaf)
			return available != nil && available.Status == isTrue
		})
}

// A writer that insists is followed at growing intervals.
func TestAnotherWriterIsNotFought(t *testing.T) {
	hub, r := newAvailable(t)
	hub.Insist(t, r, actingbench.Condition("Available", isFalse, "Mine", ""))
}

func TestOnlyBundlesAreEnqueued(t *testing.T) {
	for name, test := range map[string]struct {
		bundle bool
		leaf   *addonv1alpha1.ManagedClusterAddOn
		want   int
	}{
		"bundle":        {true, actingbench.AddOn("leaf"), 1},
		"former bundle": {false, actingbench.AddOn("leaf", actingbench.Condition("Available", isTrue, "BundleAvailable", "")), 1},
		"no bundle":     {false, actingbench.AddOn("leaf"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, r := newBench(t, test.bundle, false, test.leaf)
			enqueued := triggertest.Enqueued(t, r.Evaluate)
			r.Evaluated(actingbench.Leaf)
			if got := enqueued(); len(got) != test.want {
				t.Errorf("enqueued by its evaluation: %q", got)
			}
			if got := r.concerns(test.leaf); got != (test.want == 1) {
				t.Errorf("enqueued by its change: %t", got)
			}
		})
	}
}
