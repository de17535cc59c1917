package status

import (
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/test/triggertest"
)

// enqueued runs a handler and returns the keys that it enqueues, sorted.
func enqueued(t *testing.T, handle func(queue)) []string {
	t.Helper()
	q := triggertest.NewQueue(t)
	handle(q)
	return triggertest.Drain(q)
}

func mapped(t *testing.T) (assess.Watch, *bench, *[]types.NamespacedName) {
	t.Helper()
	return mappedWith(t, addOn("leaf"), addOn("base"))
}

func mappedWith(t *testing.T, objects ...client.Object) (assess.Watch, *bench, *[]types.NamespacedName) {
	t.Helper()
	b := newBench(t, objects...)
	var forgotten []types.NamespacedName
	return assess.Watch{
		Declarations: b.Declarations, Fleet: b.Assessor.Fleet, Hold: true, Memory: b.Memory,
		Forget: func(name types.NamespacedName) { forgotten = append(forgotten, name) }, Lost: b.Metrics.SetLost,
	}, b, &forgotten
}

func TestUpdatesOfAddOns(t *testing.T) {
	fine := conditionOf("Available", metav1.ConditionTrue, "Fine")
	down := conditionOf("Available", metav1.ConditionFalse, "Down")
	bad := conditionOf("Degraded", metav1.ConditionTrue, "Bad")
	other := conditionOf("Progressing", metav1.ConditionTrue, "Busy")
	both := []string{"cluster1/base", "cluster1/leaf"}
	missing := func(message string) metav1.Condition {
		condition := conditionOf("Degraded", metav1.ConditionTrue, "RequiredDependencyNotSatisfied")
		condition.Message = message
		return condition
	}
	again := missing("a")
	again.LastTransitionTime = metav1.NewTime(aTime.Add(time.Minute))
	optionalOnly := conditionOf("Degraded", metav1.ConditionTrue, "DependencyNotSatisfied")
	for _, test := range []struct {
		name       string
		of         string
		from, to   []metav1.Condition
		change     func(after *addonv1alpha1.ManagedClusterAddOn)
		want       []string
		wantForgot bool
	}{
		{name: "nothing", of: "base", from: []metav1.Condition{fine}, to: []metav1.Condition{fine}},
		{name: "a label and a version", of: "base", change: func(after *addonv1alpha1.ManagedClusterAddOn) {
			after.Labels, after.ResourceVersion = map[string]string{"a": "b"}, "7"
		}},
		{name: "another condition", of: "base", to: []metav1.Condition{other}},
		{name: "Available appears", of: "base", to: []metav1.Condition{fine}, want: []string{"cluster1/leaf"}},
		{
			name: "Available changes", of: "base", from: []metav1.Condition{fine}, to: []metav1.Condition{down},
			want: []string{"cluster1/leaf"},
		},
		{name: "Available vanishes", of: "base", from: []metav1.Condition{fine}, want: []string{"cluster1/leaf"}},
		{name: "Available of one without dependents", of: "leaf", from: []metav1.Condition{fine}, to: []metav1.Condition{down}},
		{
			name: "a Required dependency of it fails",
			of:   "base",
			from: []metav1.Condition{fine},
			to:   []metav1.Condition{fine, missing("a")},
			want: both,
		},
		{name: "none fails any more", of: "base", from: []metav1.Condition{missing("a")}, to: []metav1.Condition{optionalOnly}, want: both},
		{
			name: "more of them fail",
			of:   "base",
			from: []metav1.Condition{missing("a")},
			to:   []metav1.Condition{missing("a and b")},
			want: []string{"cluster1/base"},
		},
		{name: "they fail again", of: "base", from: []metav1.Condition{missing("a")}, to: []metav1.Condition{again}, want: both},
		{name: "only Optional ones fail", of: "base", to: []metav1.Condition{optionalOnly}, want: []string{"cluster1/base"}},
		{name: "Degraded appears", of: "leaf", to: []metav1.Condition{bad}, want: []string{"cluster1/leaf"}},
		{name: "Degraded vanishes", of: "leaf", from: []metav1.Condition{bad}, want: []string{"cluster1/leaf"}},
		{name: "the conditions change places", of: "base", from: []metav1.Condition{fine, bad}, to: []metav1.Condition{bad, fine}},
		{name: "deletion begins", of: "base", want: both, change: func(after *addonv1alpha1.ManagedClusterAddOn) {
			after.DeletionTimestamp = &metav1.Time{Time: aTime}
		}},
		{
			name: "another object of the name", of: "base", want: both, wantForgot: true,
			change: func(after *addonv1alpha1.ManagedClusterAddOn) { after.UID = "another" },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _, forgotten := mapped(t)
			before, after := addOn(test.of, test.from...), addOn(test.of, test.to...)
			if test.change != nil {
				test.change(after)
			}
			got := enqueued(t, func(q queue) {
				m.AddOns().Update(t.Context(), event.TypedUpdateEvent[installed]{ObjectOld: before, ObjectNew: after}, q)
			})
			if !slices.Equal(got, test.want) {
				t.Errorf("enqueues %q, want %q", got, test.want)
			}
			if (len(*forgotten) > 0) != test.wantForgot {
				t.Errorf("forgets %v", *forgotten)
			}
		})
	}
}

func TestComingAndGoingOfAddOns(t *testing.T) {
	m, _, forgotten := mapped(t)
	want := []string{"cluster1/base", "cluster1/leaf"}
	created := enqueued(t, func(q queue) {
		m.AddOns().Create(t.Context(), event.TypedCreateEvent[installed]{Object: addOn("base")}, q)
	})
	if !slices.Equal(created, want) {
		t.Errorf("a creation enqueues %q, want %q", created, want)
	}
	if len(*forgotten) != 0 {
		t.Errorf("a creation forgets %v", *forgotten)
	}
	deleted := enqueued(t, func(q queue) {
		m.AddOns().Delete(t.Context(), event.TypedDeleteEvent[installed]{Object: addOn("base")}, q)
	})
	if !slices.Equal(deleted, want) {
		t.Errorf("a deletion enqueues %q, want %q", deleted, want)
	}
	if len(*forgotten) != 1 {
		t.Errorf("a deletion forgets %v", *forgotten)
	}
}

func TestBeforeTheFirstCatalogNoDependentsAreKnown(t *testing.T) {
	m, _, _ := mapped(t)
	m.Declarations = declarations.NewStore()
	got := enqueued(t, func(q queue) {
		m.AddOns().Create(t.Context(), event.TypedCreateEvent[installed]{Object: addOn("base")}, q)
	})
	if want := []string{"cluster1/base"}; !slices.Equal(got, want) {
		t.Errorf("enqueues %q, want %q", got, want)
	}
}

func cluster(status metav1.ConditionStatus) *clusterv1.ManagedCluster {
	object := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: leaf.Namespace}}
	if status != "" {
		object.Status.Conditions = []metav1.Condition{conditionOf(clusterv1.ManagedClusterConditionAvailable, status, "Test")}
	}
	return object
}

func TestUpdatesOfClusters(t *testing.T) {
	all := []string{"cluster1/base", "cluster1/leaf"}
	for _, test := range []struct {
		name     string
		from, to metav1.ConditionStatus
		want     []string
	}{
		{"is lost", metav1.ConditionTrue, metav1.ConditionUnknown, nil},
		{"stays lost", metav1.ConditionUnknown, metav1.ConditionUnknown, nil},
		{"stays", metav1.ConditionTrue, metav1.ConditionTrue, nil},
		{"joins", "", metav1.ConditionTrue, nil},
		{"is denied by itself", metav1.ConditionTrue, metav1.ConditionFalse, nil},
		{"is back", metav1.ConditionUnknown, metav1.ConditionTrue, all},
		{"is back, not well", metav1.ConditionUnknown, metav1.ConditionFalse, all},
		{"is back, unspoken of", metav1.ConditionUnknown, "", all},
		{"is not spoken of any more", metav1.ConditionTrue, "", all},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _, _ := mapped(t)
			var lost bool
			m.Lost = func(_ string, now bool) { lost = now }
			got := enqueued(t, func(q queue) {
				m.Clusters().Update(t.Context(), event.TypedUpdateEvent[*clusterv1.ManagedCluster]{
					ObjectOld: cluster(test.from), ObjectNew: cluster(test.to),
				}, q)
			})
			if !slices.Equal(got, test.want) {
				t.Errorf("enqueues %q, want %q", got, test.want)
			}
			if want := test.to == metav1.ConditionUnknown; lost != want {
				t.Errorf("lost: %v", lost)
			}
		})
	}
}

func TestComingAndGoingOfClusters(t *testing.T) {
	m, b, _ := mapped(t)
	lost := true
	m.Lost = func(_ string, now bool) { lost = now }
	deleted := func(status metav1.ConditionStatus) []string {
		return enqueued(t, func(q queue) {
			m.Clusters().Delete(t.Context(), event.TypedDeleteEvent[*clusterv1.ManagedCluster]{Object: cluster(status)}, q)
		})
	}
	if got := deleted(""); len(got) != 0 {
		t.Errorf("the deletion of a cluster that never joined enqueues %q", got)
	}
	for _, status := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionUnknown} {
		if got := deleted(status); len(got) != 2 || lost {
			t.Errorf("the deletion of a cluster that was %s enqueues %q", status, got)
		}
	}
	got := enqueued(t, func(q queue) {
		m.Clusters().Create(t.Context(), event.TypedCreateEvent[*clusterv1.ManagedCluster]{Object: cluster("")}, q)
	})
	if len(got) != 0 {
		t.Errorf("the creation of a cluster enqueues %q", got)
	}
	m.Fleet = hubcache.NewReader(failing{b.hub, "*v1alpha1.ManagedClusterAddOn", errors.New("not synced")})
	if got := deleted(metav1.ConditionUnknown); len(got) != 0 {
		t.Errorf("enqueues %q from a cache that cannot be read", got)
	}
}

func expectEnqueued(t *testing.T, name string, want []string, handle func(queue)) {
	t.Helper()
	if got := enqueued(t, handle); !slices.Equal(got, want) {
		t.Errorf("%s: enqueues %q, want %q", name, got, want)
	}
}

func updateOf[T any](before, after T) event.TypedUpdateEvent[T] {
	return event.TypedUpdateEvent[T]{ObjectOld: before, ObjectNew: after}
}

func creationOf[T any](object T) event.TypedCreateEvent[T] {
	return event.TypedCreateEvent[T]{Object: object}
}

func deletionOf[T any](object T) event.TypedDeleteEvent[T] {
	return event.TypedDeleteEvent[T]{Object: object}
}

// What is known of a cluster concerns the add-ons of others, whose agents it runs, where their edges need it.
func TestHostedAddOnsFollowTheirHost(t *testing.T) {
	hosted := func(name string) *addonv1alpha1.ManagedClusterAddOn {
		one := addOn(name)
		one.Namespace, one.Annotations = "cluster2", map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "host"}
		return one
	}
	m, b, _ := mappedWith(t, hosted("leaf"), hosted("base"))
	host := func(status metav1.ConditionStatus) *clusterv1.ManagedCluster {
		object := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "host"}}
		if status != "" {
			object.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
		}
		return object
	}
	updated := func(was, is metav1.ConditionStatus) []string {
		return enqueued(t, func(q queue) {
			m.Clusters().Update(t.Context(), event.TypedUpdateEvent[*clusterv1.ManagedCluster]{ObjectOld: host(was), ObjectNew: host(is)}, q)
		})
	}
	moved := func() []string {
		return enqueued(t, func(q queue) {
			was := hosted("leaf")
			was.Annotations = nil
			m.AddOns().Update(t.Context(), event.TypedUpdateEvent[installed]{ObjectOld: was, ObjectNew: hosted("leaf")}, q)
		})
	}
	if got := append(updated("Unknown", "True"), moved()...); len(got) > 0 {
		t.Errorf("no edge needs the host: enqueued %q", got)
	}
	onHost := &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Kind: "Thing"}, ServedBy: addonv1alpha1.APIServerHostingCluster}
	leaf := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "leaf"}}
	leaf.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "things", API: onHost}}
	b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{leaf})))
	concerned, nothing := []string{"cluster2/leaf"}, []string{}
	for name, test := range map[string]struct{ got, want []string }{
		"Returned": {updated("Unknown", "True"), concerned},
		"Joined":   {updated("", "True"), concerned},
		"Lost":     {updated("True", "Unknown"), nothing},
		"Same":     {updated("True", "True"), nothing},
		"Moved":    {moved(), concerned},
		"Created": {enqueued(t, func(q queue) {
			m.Clusters().Create(t.Context(), event.TypedCreateEvent[*clusterv1.ManagedCluster]{Object: host("")}, q)
		}), concerned},
		"Deleted": {enqueued(t, func(q queue) {
			m.Clusters().Delete(t.Context(), event.TypedDeleteEvent[*clusterv1.ManagedCluster]{Object: host("True")}, q)
		}), concerned},
	} {
		if !slices.Equal(test.got, test.want) {
			t.Errorf("%s: enqueued %q, want %q", name, test.got, test.want)
		}
	}
}
