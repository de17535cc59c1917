package status

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/assess"
)

// store stores the status of an object on the hub, and passes the update to the mapping.
func (b *bench) store(t *testing.T, m assess.Watch, updated *addonv1alpha1.ManagedClusterAddOn) {
	t.Helper()
	old := &addonv1alpha1.ManagedClusterAddOn{}
	if err := b.hub.Get(t.Context(), types.NamespacedName{Namespace: updated.Namespace, Name: updated.Name}, old); err != nil {
		t.Fatal(err)
	}
	stored := old.DeepCopy()
	stored.Status = updated.Status
	if err := b.hub.Status().Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	enqueued(t, func(q queue) {
		m.AddOns().Update(t.Context(), event.TypedUpdateEvent[installed]{ObjectOld: old, ObjectNew: stored}, q)
	})
}

// setClusterStatus does the same for the cluster.
func (b *bench) setClusterStatus(t *testing.T, m assess.Watch, status metav1.ConditionStatus, now time.Time) {
	t.Helper()
	old := &clusterv1.ManagedCluster{}
	if err := b.hub.Get(t.Context(), types.NamespacedName{Name: leaf.Namespace}, old); err != nil {
		t.Fatal(err)
	}
	updated := old.DeepCopy()
	updated.Status = clusterAt(status, now).Status
	if err := b.hub.Update(t.Context(), updated); err != nil {
		t.Fatal(err)
	}
	enqueued(t, func(q queue) {
		m.Clusters().Update(t.Context(), event.TypedUpdateEvent[*clusterv1.ManagedCluster]{ObjectOld: old, ObjectNew: updated}, q)
	})
}

func clusterAt(status metav1.ConditionStatus, since time.Time) *clusterv1.ManagedCluster {
	object := cluster(status)
	object.Status.Conditions[0].LastTransitionTime = metav1.NewTime(since)
	return object
}

// baseIs returns the dependency with a condition.
func baseIs(status metav1.ConditionStatus, reason string, since time.Time) *addonv1alpha1.ManagedClusterAddOn {
	condition := conditionOf("Available", status, reason)
	condition.LastTransitionTime = metav1.NewTime(since)
	return addOn("base", condition)
}

const clusterLost = "ManagedClusterLeaseUpdateStopped"

// expectHeld checks that the dependent is held for the remaining time, or not held if it is zero.
func (b *bench) expectHeld(t *testing.T, step string, remaining time.Duration) {
	t.Helper()
	previous := b.applies
	result, err := b.reconcile(t)
	wrote := b.applies - previous
	if err != nil || result.RequeueAfter != remaining || (wrote == 0) != (remaining > 0) {
		t.Fatalf("%s: comes again in %s, want %s; %d writes, error %v", step, result.RequeueAfter, remaining, wrote, err)
	}
}

// The time that an add-on may take to report is measured by the hub's clock. The clock of
// the managed cluster, which sets the times in conditions, has no influence.
func TestAClusterThatIsBackMayTakeItsTimeToReport(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"right": 0, "6 minutes slow": -6 * time.Minute, "a day fast": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			m, b, _ := mappedWith(t, addOn("leaf"), baseIs("True", "Fine", aTime.Add(ahead)), clusterAt("True", aTime.Add(ahead)))
			b.clock.SetTime(aTime.Add(time.Hour))
			b.setClusterStatus(t, m, metav1.ConditionUnknown, aTime.Add(time.Hour))
			b.store(t, m, baseIs("Unknown", clusterLost, aTime.Add(time.Hour)))
			if result, err := b.reconcile(t); err != nil || !result.IsZero() || b.applies != 0 {
				t.Fatalf("lost: result %v, %d writes, error %v", result, b.applies, err)
			}
			back := aTime.Add(2 * time.Hour)
			b.clock.SetTime(back)
			b.setClusterStatus(t, m, metav1.ConditionTrue, back.Add(ahead))
			b.expectHeld(t, "back", evaluation.SettleTime)
			b.clock.SetTime(back.Add(time.Minute))
			b.expectHeld(t, "a minute later", evaluation.SettleTime-time.Minute)
			b.clock.SetTime(back.Add(evaluation.SettleTime))
			b.expectHeld(t, "it never reported again", 0)
		})
	}
}

// The losses of the cluster and of the add-on have different watches, so they arrive in any order.
func TestALossThatIsSeenInTheWrongOrder(t *testing.T) {
	m, b, _ := mappedWith(t, addOn("leaf"), baseIs("True", "Fine", aTime), clusterAt("True", aTime))
	for round := range 2 { // a second loss is like the first
		future := b.clock.Now().Add(24 * time.Hour)
		b.clock.SetTime(future)
		b.store(t, m, baseIs("Unknown", clusterLost, future))
		b.expectHeld(t, "the add-on is lost first", evaluation.SettleTime)
		b.setClusterStatus(t, m, metav1.ConditionUnknown, future)
		if round == 0 { // no evaluation is needed while the cluster is lost
			if result, err := b.reconcile(t); err != nil || !result.IsZero() || b.applies != 0 {
				t.Fatalf("the cluster is lost: result %v, %d writes, error %v", result, b.applies, err)
			}
		}
		back := future.Add(time.Hour)
		b.clock.SetTime(back)
		b.setClusterStatus(t, m, metav1.ConditionTrue, back)
		b.expectHeld(t, "back", evaluation.SettleTime)
		b.store(t, m, baseIs("True", "Fine", back))
		if result, err := b.reconcile(t); err != nil || !result.IsZero() || b.applies != 0 {
			t.Fatalf("reported: result %v, %d writes, error %v", result, b.applies, err)
		}
	}
}

// The trace of a loss is held from its first observation, even if addon-manager has not
// observed the return of the cluster.
func TestALossFromBeforeTheStart(t *testing.T) {
	_, b, _ := mappedWith(
		t,
		addOn("leaf"),
		baseIs("Unknown", clusterLost, aTime.Add(-24*time.Hour)),
		clusterAt("True", aTime.Add(-time.Hour)),
	)
	b.expectHeld(t, "found", evaluation.SettleTime)
	b.clock.SetTime(aTime.Add(evaluation.SettleTime))
	b.expectHeld(t, "it never reported again", 0)
}

func TestWhatWasRequestedWhileTheClusterWasAway(t *testing.T) {
	m, b, _ := mappedWith(t, addOn("leaf"), clusterAt("Unknown", aTime))
	b.specify(t, `dependencies: [{name: a, api: {kind: Pod}}]`)
	if _, err := b.reconcile(t); err != nil {
		t.Fatal(err)
	}
	b.lazy.facts.Requested = aTime.Add(time.Minute)
	back := aTime.Add(time.Hour)
	b.clock.SetTime(back)
	b.setClusterStatus(t, m, metav1.ConditionTrue, back)
	b.expectHeld(t, "back", evaluation.ReportTime)
	b.clock.SetTime(back.Add(evaluation.ReportTime))
	b.expectHeld(t, "it never reported", 0)
}
