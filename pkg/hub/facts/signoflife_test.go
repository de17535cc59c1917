package facts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

const (
	agentName   = "interlock-agent"
	clusterLost = "ManagedClusterLeaseUpdateStopped"
)

// agentIs stores the agent's own add-on on the hub, unless it is nil.
func (b *bench) agentIs(t *testing.T, available *metav1.Condition) {
	t.Helper()
	agent := installedAddOn(agentName)
	if err := b.hub.Delete(t.Context(), agent.DeepCopy()); err != nil && available == nil {
		t.Fatal(err)
	}
	if available == nil {
		return
	}
	if available.Status != "" {
		agent.Status.Conditions = []metav1.Condition{*available}
	}
	if err := b.hub.Create(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
}

func sign(status metav1.ConditionStatus, reason string) *metav1.Condition {
	return &metav1.Condition{
		Type:               "Available",
		Status:             status,
		Reason:             reason,
		LastTransitionTime: metav1.NewTime(aTime.Add(-24 * time.Hour)),
	}
}

// clusterIs stores the ManagedCluster with a status on the hub.
func (b *bench) clusterIs(t *testing.T, status metav1.ConditionStatus) {
	t.Helper()
	object := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}
	if err := b.hub.Create(t.Context(), object); err != nil {
		if err := b.hub.Get(t.Context(), requestFor(cluster).NamespacedName, object); err != nil {
			t.Fatal(err)
		}
	}
	object.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
	if err := b.hub.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	b.reader.Memory.Outages.Observe(cluster, status)
}

func reportedBy(agent string) status {
	return status{
		ObservedGeneration: 1, AgentAddOn: agent,
		APIs: []dependencyv1alpha1.APIFact{servedFact("True")}, AddOns: []dependencyv1alpha1.AddOnFact{versionFact("1.0.0")},
	}
}

func TestWhatCountsOfAnAgent(t *testing.T) {
	const stopped = "ManagedClusterAddOnLeaseUpdateStopped"
	for name, test := range map[string]struct {
		agent     string // that reported
		available *metav1.Condition
		cluster   metav1.ConditionStatus
		since     time.Duration // the return of the cluster, if it was lost
		silent    time.Duration // since the hub observed that the agent is silent
		counts    bool
		held      time.Duration // from now
		message   string
	}{
		"Lives":         {agent: agentName, available: sign("True", "Fine"), counts: true},
		"JustInstalled": {agent: agentName, available: &metav1.Condition{}, counts: true},
		"NoAddOn":       {agent: "", counts: true},
		"Died": {
			agent: agentName, available: sign("False", stopped), cluster: "True", since: time.Hour, silent: evaluation.ReportTime,
			message: "does not run (interlock-agent: Available=False, ManagedClusterAddOnLeaseUpdateStopped, since 2026-07-31T12:00:00Z)",
		},
		"DiedJustNow": {
			agent: agentName, available: sign("False", stopped), cluster: "True", since: time.Hour, silent: time.Second,
			held: evaluation.ReportTime - time.Second, message: "does not run",
		},
		"NoLease": {
			agent:     agentName,
			available: sign("Unknown", "ManagedClusterAddOnLeaseNotFound"),
			silent:    evaluation.ReportTime,
			message:   "Available=Unknown, ManagedClusterAddOnLeaseNotFound",
		},
		"Removed": {agent: agentName, silent: evaluation.ReportTime, message: "ManagedClusterAddOn interlock-agent is not installed"},
		"StartsAfterTheReturn": {
			agent: agentName, available: sign("False", stopped), cluster: "True", since: -time.Hour,
			silent: time.Hour + 10*time.Second, held: evaluation.ReportTime - 10*time.Second, message: "does not run",
		},
		"SettlesAfterTheReturn": {
			agent: agentName, available: sign("Unknown", clusterLost), cluster: "True", since: time.Minute, silent: time.Minute,
			held: evaluation.SettleTime - time.Minute, message: "does not run",
		},
		"SettledAfterTheReturn": {
			agent: agentName, available: sign("Unknown", clusterLost), cluster: "True", since: time.Minute, silent: evaluation.SettleTime,
			message: "does not run",
		},
		"LostWithoutACluster": {
			agent:     agentName,
			available: sign("Unknown", clusterLost),
			silent:    evaluation.ReportTime,
			message:   "does not run",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if test.available != nil {
				b.agentIs(t, test.available)
			}
			b.reports(reportedBy(test.agent))
			if test.cluster != "" {
				b.clusterIs(t, metav1.ConditionUnknown)
				if test.since < 0 { // the cluster comes back after the agent was silent for long
					b.facts(t)
					b.clock.Step(-test.since)
				}
				b.clusterIs(t, test.cluster)
				b.clock.Step(max(0, test.since))
			}
			b.facts(t)
			b.clock.Step(test.silent - max(0, -test.since))
			got := b.facts(t)
			if held := got.HeldUntil.Sub(b.clock.Now()); max(held, 0) != test.held {
				t.Errorf("held for %s, want %s", held, test.held)
			}
			api, version := got.APIs[widgets], got.Versions["base"]
			if counts := api.Served == "True" && version.Version == "1.0.0"; counts != test.counts {
				t.Errorf("counts %t: %+v, %+v", counts, api, version)
			}
			if !strings.Contains(api.Message, test.message) || !strings.Contains(version.Message, test.message) {
				t.Errorf("messages %q and %q, want %q", api.Message, version.Message, test.message)
			}
		})
	}
}

func TestEachSilenceHasItsOwnTime(t *testing.T) {
	b := newBench(t)
	b.reports(reportedBy(agentName))
	for range 2 {
		b.agentIs(t, sign("False", "Stopped"))
		if held := b.facts(t).HeldUntil.Sub(b.clock.Now()); held != evaluation.ReportTime {
			t.Errorf("held for %s", held)
		}
		b.clock.Step(time.Hour)
		b.agentIs(t, sign("True", "Fine"))
		if until := b.facts(t).HeldUntil; !until.IsZero() {
			t.Errorf("held until %s although it lives", until)
		}
	}
}

// The loss can show on the agent's add-on before it shows on the cluster.
func TestAnAgentThatIsLostBeforeItsCluster(t *testing.T) {
	b := newBench(t)
	b.clusterIs(t, "True")
	b.clock.Step(time.Hour)
	b.agentIs(t, sign("Unknown", clusterLost))
	b.reports(reportedBy(agentName))
	for _, passed := range []time.Duration{0, time.Minute} {
		b.clock.Step(passed)
		if held := b.facts(t).HeldUntil.Sub(b.clock.Now()); held != evaluation.SettleTime-passed {
			t.Errorf("held for %s after %s", held, passed)
		}
	}
}

func TestTheMetricAndTheDependentsFollowTheSignOfLife(t *testing.T) {
	b := newBench(t)
	registry := prometheus.NewRegistry()
	b.Metrics = metrics.New(registry)
	b.agentIs(t, sign("True", "Fine"))
	b.reports(reportedBy(agentName))
	for _, step := range []struct {
		name     string
		agent    *metav1.Condition
		standing string
		enqueued []string
	}{
		{"lives", sign("True", "Fine"), "answered", []string{clusterAddOn("api"), clusterAddOn("version")}},
		{"lives on", sign("True", "Renewed"), "answered", nil},
		{"is lost", sign("Unknown", clusterLost), "waiting", []string{clusterAddOn("api"), clusterAddOn("version")}},
		{"died", sign("False", "Stopped"), "waiting", []string{clusterAddOn("api"), clusterAddOn("version")}},
		{"is dead", sign("False", "Stopped"), "waiting", nil},
		{"is removed", nil, "waiting", []string{clusterAddOn("api"), clusterAddOn("version")}},
		{"is back", sign("True", "Fine"), "answered", []string{clusterAddOn("api"), clusterAddOn("version")}},
	} {
		b.agentIs(t, step.agent)
		b.reconcile(t)
		if got := b.evaluated(); !slices.Equal(got, step.enqueued) {
			t.Errorf("%s: evaluates %v, want %v", step.name, got, step.enqueued)
		}
		want := "# HELP " + metrics.NameFactsClusters + " " + metrics.Help[metrics.NameFactsClusters] + "\n# TYPE " +
			metrics.NameFactsClusters + " gauge\n"
		for _, standing := range []string{"answered", "waiting"} {
			if value := map[bool]string{true: "1", false: "0"}[standing == step.standing]; value == "1" ||
				step.name != "lives" && step.name != "lives on" {
				want += metrics.NameFactsClusters + `{standing="` + standing + `"} ` + value + "\n"
			}
		}
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), metrics.NameFactsClusters); err != nil {
			t.Errorf("%s: %v", step.name, err)
		}
	}
	if len(b.applies) > 0 {
		t.Errorf("wrote %v", b.applies)
	}
}

func TestOnlyTheSignOfLifeEnqueues(t *testing.T) {
	newAddOn := func(name string, available *metav1.Condition) *addonv1alpha1.ManagedClusterAddOn {
		addOn := installedAddOn(name)
		addOn.Status.Conditions = []metav1.Condition{*available}
		return addOn
	}
	lives, renewed, died := sign("True", "Fine"), sign("True", "Renewed"), sign("False", "Stopped")
	for name, test := range map[string]struct {
		addOn        string
		old, updated *metav1.Condition
		want         int
	}{
		"Dies":    {agentName, lives, died, 1},
		"Returns": {agentName, died, lives, 1},
		"Renewed": {agentName, lives, renewed, 0},
		"Another": {"base", lives, died, 0},
	} {
		b := newBench(t)
		b.reports(reportedBy(agentName))
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		b.addOns().Update(t.Context(), event.TypedUpdateEvent[managedClusterAddOn]{
			ObjectOld: newAddOn(test.addOn, test.old), ObjectNew: newAddOn(test.addOn, test.updated),
		}, q)
		if q.Len() != test.want {
			t.Errorf("%s: enqueues %d", name, q.Len())
		}
		q.ShutDown()
		q = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		b.addOns().Delete(t.Context(), event.TypedDeleteEvent[managedClusterAddOn]{Object: newAddOn(test.addOn, test.old)}, q)
		if want := 1; q.Len() != want { // each removal enqueues a cluster that has facts
			t.Errorf("%s, removed: enqueues %d", name, q.Len())
		}
		q.ShutDown()
	}
}
