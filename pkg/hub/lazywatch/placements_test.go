package lazywatch

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

// placed returns the mapping of a hub with "leaf", which requires "base", on c1 to c4. "base",
// which Placements install, is on c1 and c2.
func placed(t *testing.T) (AddOns, trigger.Queue) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, hubcache.IndexName,
		func(object client.Object) []string { return []string{object.GetName()} })
	for addOn, clusters := range map[string][]string{"leaf": {"c1", "c2", "c3", "c4"}, "base": {"c1", "c2"}} {
		for _, cluster := range clusters {
			builder = builder.WithObjects(&addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: addOn}})
		}
	}
	store := declarations.NewStore()
	store.Set(evaluation.New(catalog.New(append(fixture.Registrations("leaf: base"),
		fixture.Specified(t, "base", `installStrategy: {type: Placements, placements: [{namespace: ns, name: p}]}`)))))
	addOns := AddOns{Fleet: hubcache.NewReader(builder.Build()), Declarations: store, Evaluate: trigger.New()}
	queue := triggertest.NewQueue(t)
	if err := addOns.Evaluate.Source().Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	return addOns, queue
}

func decision(placement string, clusters ...string) client.Object {
	decision := &clusterv1beta1.PlacementDecision{}
	decision.Namespace, decision.Labels = "ns", map[string]string{clusterv1beta1.PlacementLabel: placement}
	for _, cluster := range clusters {
		decision.Status.Decisions = append(decision.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return decision
}

// delayQueue is a queue that records the keys that are added with a delay.
type delayQueue struct {
	trigger.Queue
	keys []string
}

func (l *delayQueue) AddAfter(key reconcile.Request, delay time.Duration) {
	if delay == declarations.RewordAfter {
		l.keys = append(l.keys, key.String())
	}
}

func TestAChangedDecisionEnqueuesWhereTheAddOnIsMissing(t *testing.T) {
	for name, test := range map[string]struct {
		old, updated client.Object
		want         []string
	}{
		"Created": {nil, decision("p", "c1", "c3"), []string{"c3/leaf"}},
		"Deleted": {decision("p", "c2", "c4"), nil, []string{"c4/leaf"}},
		"Moved":   {decision("p", "c1", "c3"), decision("p", "c1", "c4"), []string{"c3/leaf", "c4/leaf"}},
		"Same":    {decision("p", "c3"), decision("p", "c3"), nil},
		"Other":   {nil, decision("q", "c3"), nil},
	} {
		addOns, queue := placed(t)
		recording := &delayQueue{Queue: queue}
		if err := addOns.Evaluate.Source().Start(t.Context(), recording); err != nil {
			t.Fatal(err)
		}
		if err := addOns.EnqueueSelected(t.Context(), test.old, test.updated); err != nil {
			t.Fatal(err)
		}
		slices.Sort(recording.keys)
		if immediate := triggertest.Drain(queue); !slices.Equal(recording.keys, test.want) || len(immediate) > 0 {
			t.Errorf("%s: enqueues %q later and %q now, want %q later", name, recording.keys, immediate, test.want)
		}
	}
}

func TestOnceDecisionsAreReadMissingAddOnsAreExplained(t *testing.T) {
	addOns, queue := placed(t)
	if err := addOns.EnqueueUninstalled(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := triggertest.Drain(queue); !slices.Equal(got, []string{"c3/leaf", "c4/leaf"}) {
		t.Errorf("enqueues %q", got)
	}
	addOns.Declarations = declarations.NewStore()
	if err := addOns.EnqueueUninstalled(t.Context()); err != nil || queue.Len() > 0 {
		t.Errorf("before the first catalog: error %v, %d keys", err, queue.Len())
	}
}
