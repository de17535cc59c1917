package evaluation

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/test/fixture"
)

// foundAt is the time at which the hub observed the state that the loss of a cluster left on its add-ons.
var foundAt = time.Unix(900, 0)

// installed makes an observe function of a cluster's add-ons.
func installed(addOns map[string]*metav1.Condition) func(string) Observation {
	return func(name string) Observation {
		condition, ok := addOns[name]
		return Observation{Installed: ok, Available: condition, LossObserved: foundAt}
	}
}

func TestEvaluate(t *testing.T) {
	back := time.Unix(1000, 0)
	stopped := fixture.Available(metav1.ConditionFalse, "ManagedClusterAddOnLeaseUpdateStopped")
	noLease := fixture.Available(metav1.ConditionUnknown, "ManagedClusterAddOnLeaseNotFound")
	lost := fixture.Available(metav1.ConditionUnknown, availability.ReasonClusterLost)
	up := fixture.Available(metav1.ConditionTrue, "ManagedClusterAddOnLeaseUpdated")
	fast := fixture.Available(metav1.ConditionUnknown, availability.ReasonClusterLost)
	fast.LastTransitionTime = metav1.NewTime(back.Add(24 * time.Hour))
	type addOns = map[string]*metav1.Condition
	const (
		unknown = metav1.ConditionUnknown
		joined  = metav1.ConditionTrue
	)

	cases := map[string]struct {
		reason  string
		catalog string
		cluster Cluster
		addOns  addOns
		want    []Finding
	}{
		"NoDependencies": {
			reason: "no edges, no findings", catalog: "x:", want: nil,
		},
		"Satisfied": {
			reason: "installed and Available=True", catalog: "x: a", addOns: addOns{"a": up},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: Satisfied}},
		},
		"NotInstalled": {
			reason: "no ManagedClusterAddOn of the name", catalog: "x: a",
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: NotInstalled}},
		},
		"False": {
			reason: "anything but True is not available", catalog: "x: a", addOns: addOns{"a": stopped},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: NotAvailable, Available: stopped}},
		},
		"Unknown": {
			reason: "Unknown for a reason of the add-on's own is not available", catalog: "x: a",
			cluster: Cluster{Available: joined, Offline: OfflineHold}, addOns: addOns{"a": noLease},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: NotAvailable, Available: noLease}},
		},
		"NoCondition": {
			reason: "installed, but not reported yet", catalog: "x: a?", addOns: addOns{"a": nil},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Optional("a")), Verdict: NotAvailable}},
		},
		"NeverOnlyTheFirst": {
			reason: "all edges, in the order declared", catalog: "x: c b? a", addOns: addOns{"b": stopped, "a": up},
			want: []Finding{
				{Dependency: fixture.EdgeOn(fixture.Required("c")), Verdict: NotInstalled},
				{Dependency: fixture.EdgeOn(fixture.Optional("b")), Verdict: NotAvailable, Available: stopped},
				{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: Satisfied},
			},
		},
		"Cycle": {
			reason: "can never be satisfied, whatever is observed", catalog: "x: y a, y: x", addOns: addOns{"y": up, "a": up},
			want: []Finding{
				{Dependency: fixture.EdgeOn(fixture.Required("y")), Verdict: Cycle, Cycle: []string{"x", "y", "x"}},
				{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: Satisfied},
			},
		},
		"LegalPair": {
			reason: "the Required side of a pair that is broken elsewhere", catalog: "x: y, y: x?", addOns: addOns{"y": up},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("y")), Verdict: Satisfied}},
		},
		"OptionalIntoOwnCycle": {
			reason: "an Optional edge is on no cycle, even between members of one", catalog: "x: y z?, y: z, z: x", addOns: addOns{"z": up},
			want: []Finding{
				{Dependency: fixture.EdgeOn(fixture.Required("y")), Verdict: Cycle, Cycle: []string{"x", "y", "z", "x"}},
				{Dependency: fixture.EdgeOn(fixture.Optional("z")), Verdict: Satisfied},
			},
		},
		"Lost": {
			reason: "a lost cluster says nothing new, not even of what is missing or on a cycle", catalog: "x: a b y, y: x",
			cluster: Cluster{Available: unknown, Offline: OfflineHold}, addOns: addOns{"a": up},
			want: []Finding{
				{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: Held},
				{Dependency: fixture.EdgeOn(fixture.Required("b")), Verdict: Held},
				{Dependency: fixture.EdgeOn(fixture.Required("y")), Verdict: Held},
			},
		},
		"LostStrict": {
			reason: "strict: Unknown is not available, whatever became of the cluster", catalog: "x: a b",
			cluster: Cluster{Available: unknown, Offline: OfflineStrict}, addOns: addOns{"a": lost, "b": up},
			want: []Finding{
				{
					Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: NotAvailable, Available: lost,
				}, {Dependency: fixture.EdgeOn(fixture.Required("b")), Verdict: Satisfied},
			},
		},
		"LeftFromOutage": {
			reason: "the cluster is back, its agents have not reported yet", catalog: "x: a b",
			cluster: Cluster{Available: joined, Offline: OfflineHold, Back: back, Now: back}, addOns: addOns{"a": lost, "b": up},
			want: []Finding{
				{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: Held, Until: back.Add(SettleTime)},
				{Dependency: fixture.EdgeOn(fixture.Required("b")), Verdict: Satisfied},
			},
		},
		"LeftTooLong": {
			reason: "who has not reported by now will not", catalog: "x: a",
			cluster: Cluster{Available: joined, Offline: OfflineHold, Back: back, Now: back.Add(SettleTime)}, addOns: addOns{"a": lost},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: NotAvailable, Available: lost}},
		},
		"LeftAlmostTooLong": {
			reason: "to the last moment", catalog: "x: a",
			cluster: Cluster{Available: joined, Offline: OfflineHold, Back: back, Now: back.Add(SettleTime - 1)}, addOns: addOns{"a": lost},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: Held, Until: back.Add(SettleTime)}},
		},
		"LostBeforeItsCluster": {
			reason: "newer than what is known of the cluster, which is lost as well", catalog: "x: a",
			cluster: Cluster{
				Available: joined, Offline: OfflineHold, Back: foundAt.Add(-time.Hour), Now: foundAt.Add(SettleTime - 1),
			}, addOns: addOns{"a": lost},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: Held, Until: foundAt.Add(SettleTime)}},
		},
		"LostAloneTooLong": {
			reason: "a cluster that stays was not lost", catalog: "x: a",
			cluster: Cluster{
				Available: joined, Offline: OfflineHold, Back: foundAt.Add(-time.Hour), Now: foundAt.Add(SettleTime),
			}, addOns: addOns{"a": lost},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: NotAvailable, Available: lost}},
		},
		"ClockOfTheManagedCluster": {
			reason: "a condition's own time is not believed", catalog: "x: a",
			cluster: Cluster{Available: joined, Offline: OfflineHold, Back: back, Now: back.Add(SettleTime)}, addOns: addOns{"a": fast},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: NotAvailable, Available: fast}},
		},
		"LeftFromOutageStrict": {
			reason: "strict knows no holding", catalog: "x: a",
			cluster: Cluster{Available: joined, Offline: OfflineStrict}, addOns: addOns{"a": lost},
			want: []Finding{{Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: NotAvailable, Available: lost}},
		},
		"FalseWithTheReason": {
			reason: "only Unknown is the hub's word", catalog: "x: a",
			cluster: Cluster{Available: joined, Offline: OfflineHold}, addOns: addOns{"a": fixture.Available(
				metav1.ConditionFalse, availability.ReasonClusterLost,
			)},
			want: []Finding{{
				Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: NotAvailable,
				Available: fixture.Available(metav1.ConditionFalse, availability.ReasonClusterLost),
			}},
		},
		"NoManagedCluster": {
			reason: "without a ManagedCluster, as usual: nobody will report again", catalog: "x: a b",
			cluster: Cluster{Offline: OfflineHold}, addOns: addOns{"a": lost, "b": up},
			want: []Finding{
				{
					Dependency: fixture.EdgeOn(fixture.Required("a")), Verdict: NotAvailable, Available: lost,
				}, {Dependency: fixture.EdgeOn(fixture.Required("b")), Verdict: Satisfied},
			},
		},
	}
	seen := map[Verdict]bool{}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := evaluator(fixture.WithTargets(fixture.Registrations(tc.catalog)))
			got := c.Evaluate("x", c.State("x", tc.cluster, installed(tc.addOns)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			for _, finding := range got {
				seen[finding.Verdict] = true
				if want := finding.Verdict != Satisfied && finding.Verdict != Held; finding.Unsatisfied() != want {
					t.Errorf("%s: %s: Unsatisfied() = %t", tc.reason, finding.Verdict, !want)
				}
			}
		})
	}
	for _, verdict := range []Verdict{Satisfied, NotInstalled, NotAvailable, Cycle, Held} { // the verdicts of the proposal
		if !seen[verdict] {
			t.Errorf("no case for %s", verdict)
		}
	}
}

func TestEvaluateInvalidAndUnknown(t *testing.T) {
	c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Annotated("x", "{")})
	if diff := cmp.Diff([]Finding{{Verdict: Held}}, c.Evaluate("x", State{})); diff != "" {
		t.Errorf("an unusable declaration keeps the last verdicts: %s", diff)
	}
	if got := c.Evaluate("missing", State{}); got != nil {
		t.Errorf("an add-on without registration has no edges, got %v", got)
	}
}

func TestHeldUntil(t *testing.T) {
	start := time.Unix(1000, 0)
	for name, tc := range map[string]struct {
		findings []Finding
		want     time.Time
	}{
		"Nothing":       {nil, time.Time{}},
		"WithoutAnEnd":  {[]Finding{{Verdict: Held}, {Verdict: Satisfied}}, time.Time{}},
		"TheFirstCount": {[]Finding{{Verdict: Held, Until: start.Add(2)}, {Verdict: Held}, {Verdict: Held, Until: start}}, start},
	} {
		if got := HeldUntil(tc.findings); !got.Equal(tc.want) {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestDenseGraph(t *testing.T) {
	const size = 257
	addOns := make([]addonv1alpha1.ClusterManagementAddOn, size)
	for i := range addOns {
		addOns[i] = fixture.Registration(strconv.Itoa(i))
		for j := range size {
			if i != j {
				addOns[i].Spec.Dependencies = append(addOns[i].Spec.Dependencies, fixture.Required(strconv.Itoa(j)))
			}
		}
	}
	c := evaluator(addOns)
	if changed := c.Changed(evaluator(addOns).Catalog); changed != nil {
		t.Errorf("nothing changed, got %v", changed)
	}
	for range 2000 { // an evaluation per cluster
		if got := len(c.Evaluate("7", State{})); got != size-1 {
			t.Fatalf("want %d findings, got %d", size-1, got)
		}
	}
}
