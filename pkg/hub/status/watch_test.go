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
	progressing := conditionOf("Progressing", metav1.ConditionTrue, "Busy")
	baseAndLeaf := []string{"cluster1/base", "cluster1/leaf"}
	missing := func(message string) metav1.Condition {
		condition := conditionOf("Degraded", metav1.ConditionTrue, "RequiredDependencyNotSatisfied")
		condition.Message = message
		return condition
	}
	repeated := missing("a")
	repeated.LastTransitionTime = metav1.NewTime(aTime.Add(time.Minute))
	optionalOnly := conditionOf("Degraded", metav1.ConditionTrue, "DependencyNotSatisfied")
	for _, test := range []struct {
		name         string
		addOn        string
		old, current []metav1.Condition
		change       func(updated *addonv1alpha1.ManagedClusterAddOn)
		want         []string
		wantForgot   bool
	}{
		{name: "nothing", addOn: "base", old: []metav1.Condition{fine}, current: []metav1.Condition{fine}},
		{name: "a label and a version", addOn: "base", change: func(updated *addonv1alpha1.ManagedClusterAddOn) {
			updated.Labels, updated.ResourceVersion = map[string]string{"a": "b"}, "7"
		}},
		{name: "another condition", addOn: "base", current: []metav1.Condition{progressing}},
		{name: "Available appears", addOn: "base", current: []metav1.Condition{fine}, want: []string{"cluster1/leaf"}},
		{
			name: "Available changes", addOn: "base", old: []metav1.Condition{fine}, current: []metav1.Condition{down},
			want: []string{"cluster1/leaf"},
		},
		{name: "Available vanishes", addOn: "base", old: []metav1.Condition{fine}, want: []string{"cluster1/leaf"}},
		{name: "Available of one without dependents", addOn: "leaf", old: []metav1.Condition{fine}, current: []metav1.Condition{down}},
		{
			name:    "a Required dependency of it fails",
			addOn:   "base",
			old:     []metav1.Condition{fine},
			current: []metav1.Condition{fine, missing("a")},
			want:    baseAndLeaf,
		},
		{
			name: "none fails any more", addOn: "base", old: []metav1.Condition{missing("a")}, current: []metav1.Condition{optionalOnly},
			want: baseAndLeaf,
		},
		{
			name:    "more of them fail",
			addOn:   "base",
			old:     []metav1.Condition{missing("a")},
			current: []metav1.Condition{missing("a and b")},
			want:    []string{"cluster1/base"},
		},
		{name: "they fail again", addOn: "base", old: []metav1.Condition{missing("a")}, current: []metav1.Condition{repeated}, want: baseAndLeaf},
		{name: "only Optional ones fail", addOn: "base", current: []metav1.Condition{optionalOnly}, want: []string{"cluster1/base"}},
		{name: "Degraded appears", addOn: "leaf", current: []metav1.Condition{bad}, want: []string{"cluster1/leaf"}},
		{name: "Degraded vanishes", addOn: "leaf", old: []metav1.Condition{bad}, want: []string{"cluster1/leaf"}},
		{name: "the conditions change places", addOn: "base", old: []metav1.Condition{fine, bad}, current: []metav1.Condition{bad, fine}},
		{name: "deletion begins", addOn: "base", want: baseAndLeaf, change: func(updated *addonv1alpha1.ManagedClusterAddOn) {
			updated.DeletionTimestamp = &metav1.Time{Time: aTime}
		}},
		{
			name: "another object of the name", addOn: "base", want: baseAndLeaf, wantForgot: true,
			change: func(updated *addonv1alpha1.ManagedClusterAddOn) { updated.UID = "another" },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _, forgotten := mapped(t)
			oldAddOn, updated := addOn(test.addOn, test.old...), addOn(test.addOn, test.current...)
			if test.change != nil {
				test.change(updated)
			}
			got := enqueued(t, func(q queue) {
				m.AddOns().Update(t.Context(), event.TypedUpdateEvent[installed]{ObjectOld: oldAddOn, ObjectNew: updated}, q)
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
	keys := enqueued(t, func(q queue) {
		m.AddOns().Create(t.Context(), event.TypedCreateEvent[installed]{Object: addOn("base")}, q)
	})
	if !slices.Equal(keys, want) {
		t.Errorf("a creation enqueues %q, want %q", keys, want)
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
	baseAndLeaf := []string{"cluster1/base", "cluster1/leaf"}
	for _, test := range []struct {
		name         string
		old, current metav1.ConditionStatus
		want         []string
	}{
		{"is lost", metav1.ConditionTrue, metav1.ConditionUnknown, nil},
		{"stays lost", metav1.ConditionUnknown, metav1.ConditionUnknown, nil},
		{"stays", metav1.ConditionTrue, metav1.ConditionTrue, nil},
		{"joins", "", metav1.ConditionTrue, nil},
		{"is denied by itself", metav1.ConditionTrue, metav1.ConditionFalse, nil},
		{"is back", metav1.ConditionUnknown, metav1.ConditionTrue, baseAndLeaf},
		{"is back, not well", metav1.ConditionUnknown, metav1.ConditionFalse, baseAndLeaf},
		{"is back, unspoken of", metav1.ConditionUnknown, "", baseAndLeaf},
		{"is not spoken of any more", metav1.ConditionTrue, "", baseAndLeaf},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _, _ := mapped(t)
			var lost bool
			m.Lost = func(_ string, isLost bool) { lost = isLost }
			got := enqueued(t, func(q queue) {
				m.Clusters().Update(t.Context(), event.TypedUpdateEvent[*clusterv1.ManagedCluster]{
					ObjectOld: cluster(test.old), ObjectNew: cluster(test.current),
				}, q)
			})
			if !slices.Equal(got, test.want) {
				t.Errorf("enqueues %q, want %q", got, test.want)
			}
			if want := test.current == metav1.ConditionUnknown; lost != want {
				t.Errorf("lost: %v", lost)
			}
		})
	}
}

func TestComingAndGoingOfClusters(t *testing.T) {
	m, b, _ := mapped(t)
	lost := true
	m.Lost = func(_ string, isLost bool) { lost = isLost }
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

func updateOf[T any](old, updated T) event.TypedUpdateEvent[T] {
	return event.TypedUpdateEvent[T]{ObjectOld: old, ObjectNew: updated}
}

func creationOf[T any](object T) event.TypedCreateEvent[T] {
	return event.TypedCreateEvent[T]{Object: object}
}

func deletionOf[T any](object T) event.TypedDeleteEvent[T] {
	return event.TypedDeleteEvent[T]{Object: object}
}

// The state of a cluster enqueues the hosted add-ons of other clusters, if their edges use it.
func TestHostedAddOnsFollowTheirHost(t *testing.T) {
	hosted := func(name string) *addonv1alpha1.ManagedClusterAddOn {
		object := addOn(name)
		object.Namespace, object.Annotations = "cluster2", map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "host"}
		return object
	}
	m, b, _ := mappedWith(t, hosted("leaf"), hosted("base"))
	host := func(status metav1.ConditionStatus) *clusterv1.ManagedCluster {
		object := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "host"}}
		if status != "" {
			object.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
		}
		return object
	}
	updated := func(oldStatus, newStatus metav1.ConditionStatus) []string {
		return enqueued(t, func(q queue) {
			m.Clusters().Update(t.Context(), updateOf(host(oldStatus), host(newStatus)), q)
		})
	}
	moved := func() []string {
		return enqueued(t, func(q queue) {
			oldAddOn := hosted("leaf")
			oldAddOn.Annotations = nil
			m.AddOns().Update(t.Context(), event.TypedUpdateEvent[installed]{ObjectOld: oldAddOn, ObjectNew: hosted("leaf")}, q)
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
