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

// store puts the status of an object on the hub, and has the mapping handle it.
func (b *bench) store(t *testing.T, m assess.Watch, after *addonv1alpha1.ManagedClusterAddOn) {
	t.Helper()
	before := &addonv1alpha1.ManagedClusterAddOn{}
	if err := b.hub.Get(t.Context(), types.NamespacedName{Namespace: after.Namespace, Name: after.Name}, before); err != nil {
		t.Fatal(err)
	}
	stored := before.DeepCopy()
	stored.Status = after.Status
	if err := b.hub.Status().Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	enqueued(t, func(q queue) {
		m.AddOns().Update(t.Context(), event.TypedUpdateEvent[installed]{ObjectOld: before, ObjectNew: stored}, q)
	})
}

// turn does the same with the cluster.
func (b *bench) turn(t *testing.T, m assess.Watch, status metav1.ConditionStatus, at time.Time) {
	t.Helper()
	before := &clusterv1.ManagedCluster{}
	if err := b.hub.Get(t.Context(), types.NamespacedName{Name: leaf.Namespace}, before); err != nil {
		t.Fatal(err)
	}
	after := before.DeepCopy()
	after.Status = clusterAt(status, at).Status
	if err := b.hub.Update(t.Context(), after); err != nil {
		t.Fatal(err)
	}
	enqueued(t, func(q queue) {
		m.Clusters().Update(t.Context(), event.TypedUpdateEvent[*clusterv1.ManagedCluster]{ObjectOld: before, ObjectNew: after}, q)
	})
}

func clusterAt(status metav1.ConditionStatus, at time.Time) *clusterv1.ManagedCluster {
	object := cluster(status)
	object.Status.Conditions[0].LastTransitionTime = metav1.NewTime(at)
	return object
}

// baseIs is the dependency in one state, of that time.
func baseIs(status metav1.ConditionStatus, reason string, at time.Time) *addonv1alpha1.ManagedClusterAddOn {
	condition := conditionOf("Available", status, reason)
	condition.LastTransitionTime = metav1.NewTime(at)
	return addOn("base", condition)
}

const clusterLost = "ManagedClusterLeaseUpdateStopped"

// expectHeld fails unless the dependent is held for that long; zero: not held.
func (b *bench) expectHeld(t *testing.T, step string, left time.Duration) {
	t.Helper()
	before := b.applies
	result, err := b.reconcile(t)
	wrote := b.applies - before
	if err != nil || result.RequeueAfter != left || (wrote == 0) != (left > 0) {
		t.Fatalf("%s: comes again in %s, want %s; %d writes, error %v", step, result.RequeueAfter, left, wrote, err)
	}
}

// The hub's clock decides how long an add-on may take to report, whatever the
// clock of the managed cluster, which sets the time of the conditions.
func TestAClusterThatIsBackMayTakeItsTimeToReport(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"right": 0, "6 minutes slow": -6 * time.Minute, "a day fast": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			m, b, _ := mappedWith(t, addOn("leaf"), baseIs("True", "Fine", aTime.Add(ahead)), clusterAt("True", aTime.Add(ahead)))
			b.clock.SetTime(aTime.Add(time.Hour))
			b.turn(t, m, metav1.ConditionUnknown, aTime.Add(time.Hour))
			b.store(t, m, baseIs("Unknown", clusterLost, aTime.Add(time.Hour)))
			if result, err := b.reconcile(t); err != nil || !result.IsZero() || b.applies != 0 {
				t.Fatalf("lost: result %v, %d writes, error %v", result, b.applies, err)
			}
			back := aTime.Add(2 * time.Hour)
			b.clock.SetTime(back)
			b.turn(t, m, metav1.ConditionTrue, back.Add(ahead))
			b.expectHeld(t, "back", evaluation.SettleTime)
			b.clock.SetTime(back.Add(time.Minute))
			b.expectHeld(t, "a minute later", evaluation.SettleTime-time.Minute)
			b.clock.SetTime(back.Add(evaluation.SettleTime))
			b.expectHeld(t, "it never reported again", 0)
		})
	}
}

// Both losses come by watches of their own, in any order.
func TestALossThatIsSeenInTheWrongOrder(t *testing.T) {
	m, b, _ := mappedWith(t, addOn("leaf"), baseIs("True", "Fine", aTime), clusterAt("True", aTime))
	for round := range 2 { // a second loss is like the first
		at := b.clock.Now().Add(24 * time.Hour)
		b.clock.SetTime(at)
		b.store(t, m, baseIs("Unknown", clusterLost, at))
		b.expectHeld(t, "the add-on is lost first", evaluation.SettleTime)
		b.turn(t, m, metav1.ConditionUnknown, at)
		if round == 0 { // it need not be evaluated while it is lost
			if result, err := b.reconcile(t); err != nil || !result.IsZero() || b.applies != 0 {
				t.Fatalf("the cluster is lost: result %v, %d writes, error %v", result, b.applies, err)
			}
		}
		back := at.Add(time.Hour)
		b.clock.SetTime(back)
		b.turn(t, m, metav1.ConditionTrue, back)
		b.expectHeld(t, "back", evaluation.SettleTime)
		b.store(t, m, baseIs("True", "Fine", back))
		if result, err := b.reconcile(t); err != nil || !result.IsZero() || b.applies != 0 {
			t.Fatalf("reported: result %v, %d writes, error %v", result, b.applies, err)
		}
	}
}

// What a loss left is held from when addon-manager finds it, also where it was
// not there to see the cluster come back.
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
	b.turn(t, m, metav1.ConditionTrue, back)
	b.expectHeld(t, "back", evaluation.ReportTime)
	b.clock.SetTime(back.Add(evaluation.ReportTime))
	b.expectHeld(t, "it never reported", 0)
}
