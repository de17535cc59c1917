package installation

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	lifecycle "open-cluster-management.io/interlock/pkg/hub/lifecycle/installation"
	"open-cluster-management.io/interlock/test/fixture"
)

const withLast = `dependencies: [{name: base, install: Auto, removal: WithLastDependent}]`

// newInstalled is a bench on which base was installed for leaf on each managed cluster, and leaf is gone. An hour is needed.
func newInstalled(t *testing.T, base string, onDemand bool, clusters int) *bench {
	t.Helper()
	b := newBench(t, base, onDemand, clusters)
	b.RemovalDelay = time.Hour
	b.registered(t, withLast)
	if _, _, err := b.reconcile(t); err != nil {
		t.Fatal(err)
	}
	for i := range clusters {
		if !onDemand {
			b.install(t, i, "base") // as OCM does
		}
		if err := b.hub.Delete(t.Context(), leaf(i)); err != nil {
			t.Fatal(err)
		}
		b.Needs.Found(types.NamespacedName{Namespace: cluster(i).Name, Name: "leaf"}, nil, nil)
	}
	b.emitted()
	return b
}

// registered registers base as before, and leaf with dependencies.
func (b *bench) registered(t *testing.T, leaf string) {
	t.Helper()
	base := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "base"}}
	base.Annotations = map[string]string{
		addonv1alpha1.InstallOnDemandAnnotation: "true",
		addonv1alpha1.ApproveInstallAnnotation:  "1000", addonv1alpha1.ApproveRemovalAnnotation: "1000",
	}
	strategy := manual
	if b.declared.Install("base").Placed {
		strategy = listed
	}
	base.Spec = fixture.Specified(t, "base", "{"+strategy+"}").Spec
	all := []addonv1alpha1.ClusterManagementAddOn{base, fixture.Specified(t, "leaf", "{"+leaf+"}")}
	b.declared = evaluation.New(catalog.New(all))
	b.Declarations.Set(b.declared)
	for i := range all {
		if err := client.IgnoreNotFound(b.hub.Delete(t.Context(), all[i].DeepCopy())); err != nil {
			t.Fatal(err)
		}
		all[i].ResourceVersion = ""
		if err := b.hub.Create(t.Context(), &all[i]); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bench) install(t *testing.T, i int, addOn string) {
	t.Helper()
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster(i).Name, Name: addOn}}
	if err := b.hub.Create(t.Context(), installed, client.FieldOwner("another")); err != nil {
		t.Fatal(err)
	}
}

// later returns what is written after a while.
func (b *bench) later(t *testing.T, after time.Duration) []string {
	t.Helper()
	b.clock.SetTime(b.clock.Now().Add(after))
	writes, _, err := b.reconcile(t)
	if err != nil {
		t.Fatal(err)
	}
	return writes
}

func TestWhatIsNotNeededIsRemovedAfterAnHour(t *testing.T) {
	for _, test := range []struct {
		name, base string
		onDemand   bool
		want       []string
	}{
		{"installed by OCM", listed, false, []string{"update PlacementDecision base-interlock-1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newInstalled(t, test.base, test.onDemand, 1)
			if writes, result, err := b.reconcile(t); err != nil || len(writes) > 0 || result.RequeueAfter != time.Hour {
				t.Errorf("at first: %v %v %v", writes, result, err)
			}
			if got := waiting(t, b, "interlock_waiting_removals"); got != 1 {
				t.Errorf("%v wait", got)
			}
			if writes := b.later(t, 59*time.Minute); len(writes) > 0 {
				t.Errorf("too early: %v", writes)
			}
			if writes := b.later(t, time.Minute); !slices.Equal(writes, test.want) {
				t.Errorf("got %v, want %v", writes, test.want)
			}
			if got := b.emitted(); !slices.Equal(got, []string{lifecycle.EventRemoves}) {
				t.Errorf("emitted %v", got)
			}
			if got := waiting(t, b, "interlock_removals_total"); got != 1 {
				t.Errorf("counted %v", got)
			}
			if writes := b.later(t, time.Minute); len(writes) > 0 {
				t.Errorf("nothing is left to be done: %v", writes)
			}
		})
	}
}

func TestNothingIsRemovedInDoubt(t *testing.T) {
	patch := func(t *testing.T, b *bench, patch string) {
		t.Helper()
		base := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster000", Name: "base"}}
		if err := b.hub.Patch(t.Context(), base, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("another")); err != nil {
			t.Fatal(err)
		}
	}
	for name, doubt := range map[string]func(t *testing.T, b *bench){
		"an add-on uses it":          func(t *testing.T, b *bench) { t.Helper(); b.install(t, 0, "leaf") },
		"an author wants to keep it": func(t *testing.T, b *bench) { t.Helper(); b.registered(t, needing) },
		"nothing declared says so":   func(t *testing.T, b *bench) { t.Helper(); b.registered(t, "") },
		"another writer configures it": func(t *testing.T, b *bench) {
			t.Helper()
			patch(t, b, `{"spec": {"configs": [{"name": "x", "resource": "y"}]}}`)
		},
		"the cluster is lost":                 func(t *testing.T, b *bench) { t.Helper(); b.lose(t, 0, metav1.ConditionUnknown) },
		"a policy denies that Interlock acts": func(t *testing.T, b *bench) { t.Helper(); b.deny(t) },
		"not all is assessed":                 func(_ *testing.T, b *bench) { b.FirstPass = firstpass.New() },
		"an add-on there is not assessed because of an error": func(_ *testing.T, b *bench) {
			b.FirstPass = firstpass.New()
			b.FirstPass.Add(client.ObjectKeyFromObject(leaf(0)))
			b.FirstPass.Listed()
			b.FirstPass.Failed(client.ObjectKeyFromObject(leaf(0)))
		},
		"an installed add-on declares more than the catalog has": func(t *testing.T, b *bench) {
			t.Helper()
			b.install(t, 0, "new")
			declares := fixture.Specified(t, "new", "{"+needing+"}")
			if err := b.hub.Create(t.Context(), &declares); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newInstalled(t, listed, false, 1)
			b.later(t, 0)
			doubt(t, b)
			for range 3 {
				if writes := b.later(t, time.Hour-time.Second); len(writes) > 0 || len(b.emitted()) > 0 {
					t.Fatalf("wrote %v", writes)
				}
			}
		})
	}
}

func TestAnEdgeThatDoesNotApplyNeedsNothing(t *testing.T) {
	b := newInstalled(t, listed, false, 1)
	b.registered(t, conditional)
	b.install(t, 0, "leaf")
	if writes := append(b.later(t, 0), b.later(t, time.Hour)...); len(writes) > 0 {
		t.Errorf("before leaf was evaluated: %v", writes)
	}
	b.needs(0)
	if writes := b.later(t, 0); len(writes) > 0 {
		t.Errorf("at once: %v", writes)
	}
	if writes := b.later(t, time.Hour); !slices.Equal(writes, []string{"update PlacementDecision base-interlock-1"}) {
		t.Errorf("got %v", writes)
	}
}

func TestNothingIsRemovedWhileTheHubCannotBeRead(t *testing.T) {
	b := newInstalled(t, listed, false, 1)
	b.later(t, 0)
	busy := errors.New("the hub is busy")
	hub, _ := b.hub.(client.WithWatch)
	for _, failing := range []interceptor.Funcs{
		{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return busy }},
		{Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return busy
		}},
	} {
		b.install(t, 0, "unrelated")
		b.Live = interceptor.NewClient(hub, failing)
		b.clock.SetTime(b.clock.Now().Add(time.Hour))
		if writes, _, err := b.reconcile(t); !errors.Is(err, busy) || len(writes) > 0 {
			t.Errorf("%v %v", writes, err)
		}
		unrelated := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster000", Name: "unrelated"}}
		if err := hub.Delete(t.Context(), unrelated); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheControllerFollowsWhatKeepsAnAddOn(t *testing.T) {
	b := newInstalled(t, listed, false, 1)
	b.later(t, 0)
	for name, want := range map[string]bool{"leaf": true, "unrelated": false} {
		before := slices.Contains(b.Needs.users["base"], name)
		if before != want {
			t.Errorf("%s is followed: %t", name, before)
		}
	}
}

func TestADecisionThatCannotBeWithdrawnIsNoRemoval(t *testing.T) {
	b := newInstalled(t, listed, false, 2)
	b.later(t, 0)
	b.refuse = func(write, _ string) error {
		if write == "update PlacementDecision" {
			return errors.New("the hub is busy")
		}
		return nil
	}
	b.clock.SetTime(b.clock.Now().Add(time.Hour))
	if _, _, err := b.reconcile(t); err == nil || len(b.emitted()) > 0 || b.decided(t)["base-interlock-1"] != 2 {
		t.Errorf("%v, decided %v", err, b.decided(t))
	}
	b.refuse = func(string, string) error { return nil }
	if writes := b.later(t, time.Second); len(writes) != 1 || len(b.emitted()) != 2 || b.decided(t)["base-interlock-1"] != 0 {
		t.Errorf("%v, decided %v", writes, b.decided(t))
	}
}

func TestWhatIsTakenOverIsNoRemovalThatWaits(t *testing.T) {
	b := newInstalled(t, listed, false, 2)
	taken := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster000", Name: "base"}}
	label := client.RawPatch(types.MergePatchType, []byte(`{"spec": {"configs": [{"name": "x", "resource": "y"}]}}`))
	if err := b.hub.Patch(t.Context(), taken, label, client.FieldOwner("another")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{1, 0, 0} { // the other one is removed after an hour
		b.later(t, 0)
		if got := waiting(t, b, "interlock_waiting_removals"); got != want {
			t.Errorf("%v wait, want %v", got, want)
		}
		b.later(t, time.Hour)
	}
	if got := b.emitted(); !slices.Equal(got, []string{lifecycle.EventRemoves}) {
		t.Errorf("emitted %v", got)
	}
}

// waiting returns the value of a metric of base.
func waiting(t *testing.T, b *bench, name string) (value float64) {
	t.Helper()
	all, err := b.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range all {
		if family.GetName() != name {
			continue
		}
		for _, one := range family.GetMetric() {
			value += one.GetGauge().GetValue() + one.GetCounter().GetValue()
		}
	}
	return value
}
