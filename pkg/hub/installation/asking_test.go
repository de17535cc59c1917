package installation

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestADependentThatLeavesAsksForNothing(t *testing.T) {
	for name, finalizers := range map[string][]string{"being deleted": {"example.com/pre-delete"}, "gone, and not evaluated yet": nil} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, manual, true, 1)
			leaving := leaf(0)
			patch := client.MergeFrom(leaving.DeepCopy())
			leaving.Finalizers = finalizers
			if err := b.hub.Patch(t.Context(), leaving, patch); err != nil {
				t.Fatal(err)
			}
			if err := b.hub.Delete(t.Context(), leaving); err != nil {
				t.Fatal(err)
			}
			writes, result, err := b.reconcile(t)
			if err != nil || len(writes) > 0 || len(b.emitted()) > 0 || result.RequeueAfter != time.Minute {
				t.Errorf("%v %v %v", writes, result, err)
			}
			if b.Needs.Found(types.NamespacedName{Namespace: "cluster000", Name: "other"}, b.declared, nil); len(b.Needs.all()) != 1 {
				t.Error("it does not need base any more, so this shows nothing")
			}
		})
	}
}

// newUnit is a bench on which leaf needs mid, and mid needs base. Interlock installs both.
func newUnit(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, manual, true, 1)
	b.register(t, map[string]string{"leaf": "dependencies: [{name: mid, install: Auto}]", "mid": manual + ", " + needing, "base": manual})
	b.Needs.Found(client.ObjectKeyFromObject(leaf(0)), b.declared, nil)
	b.remove(t, "leaf")
	return b
}

// register registers add-ons that may all be installed on demand.
func (b *bench) register(t *testing.T, specs map[string]string) {
	t.Helper()
	var all []addonv1alpha1.ClusterManagementAddOn
	for name, spec := range specs {
		registered := fixture.Specified(t, name, "{"+spec+"}")
		registered.Annotations = map[string]string{addonv1alpha1.InstallOnDemandAnnotation: "true"}
		all = append(all, registered)
	}
	b.declared = evaluation.New(catalog.New(all))
	b.Declarations.Set(b.declared)
}

func (b *bench) remove(t *testing.T, addOns ...string) {
	t.Helper()
	for _, name := range addOns {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster000", Name: name}}
		if err := b.hub.Delete(t.Context(), addOn); err != nil {
			t.Fatal(err)
		}
	}
}

// settle lets the add-ons of the unit be evaluated and what they need be installed, and returns what is written.
func (b *bench) settle(t *testing.T) (writes []string) {
	t.Helper()
	for range 3 {
		b.clock.SetTime(b.clock.Now().Add(2 * time.Second))
		for _, name := range []string{"leaf", "mid"} {
			key, findings := types.NamespacedName{Namespace: "cluster000", Name: name}, []evaluation.Finding(nil)
			if b.exists(t, name) {
				findings = b.declared.Evaluate(name, b.declared.State(name, evaluation.Cluster{}, func(of string) evaluation.Observation {
					return evaluation.Observation{Installed: b.exists(t, of)}
				}))
			}
			b.Needs.Found(key, b.declared, findings)
		}
		wrote, _, err := b.reconcile(t)
		if err != nil {
			t.Fatal(err)
		}
		writes = append(writes, wrote...)
	}
	return writes
}

func (b *bench) exists(t *testing.T, addOn string) bool {
	t.Helper()
	found, err := b.Inputs.AddOn(t.Context(), types.NamespacedName{Namespace: "cluster000", Name: addOn})
	if err != nil {
		t.Fatal(err)
	}
	return found != nil
}

func (b *bench) createLeaf(t *testing.T) {
	t.Helper()
	created := leaf(0)
	created.CreationTimestamp = metav1.NewTime(b.clock.Now().Truncate(time.Second))
	if err := b.hub.Create(t.Context(), created); err != nil {
		t.Fatal(err)
	}
}

func TestAUnitMayBeRemovedAndInstalledAgain(t *testing.T) {
	b := newUnit(t)
	for i := range 5 {
		b.clock.SetTime(b.clock.Now().Add(5 * time.Minute))
		b.createLeaf(t)
		if writes := b.settle(t); !slices.Equal(writes, []string{"create ManagedClusterAddOn mid", "create ManagedClusterAddOn base"}) {
			t.Fatalf("installed for the %dth time: %v", i+1, writes)
		}
		b.remove(t, "leaf", "mid", "base")
		if writes := b.settle(t); len(writes) > 0 {
			t.Fatalf("nothing needs it: %v", writes)
		}
	}
	if slices.Contains(b.emitted(), EventGivenUp) {
		t.Error("no other writer has removed what is needed")
	}
}

// Another writer removes what leaf needs, and keeps leaf.
func TestAContestOfAUnitIsBounded(t *testing.T) {
	for name, removed := range map[string][]string{"the last": {"base"}, "both": {"mid", "base"}} {
		t.Run(name, func(t *testing.T) {
			b := newUnit(t)
			b.createLeaf(t)
			b.settle(t)
			for range 2 {
				b.clock.SetTime(b.clock.Now().Add(5 * time.Minute))
				b.remove(t, removed...)
				b.settle(t)
			}
			if b.exists(t, removed[0]) || !slices.Contains(b.emitted(), EventGivenUp) {
				t.Error("it is not given up")
			}
		})
	}
}

// Two add-ons need each other, and another writer removes them in turn. What Interlock has installed anew is no new beginning.
func TestACircleThatIsContestedIsBounded(t *testing.T) {
	for _, first := range []string{"leaf", "mid"} {
		b := newUnit(t)
		b.register(t, map[string]string{
			"leaf": manual + ", dependencies: [{name: mid, type: Optional, install: Auto}]",
			"mid":  manual + ", dependencies: [{name: leaf, type: Optional, install: Auto}]",
		})
		b.createLeaf(t)
		b.settle(t)
		next, created := first, 0
		for b.exists(t, next) && created < 10 {
			b.clock.SetTime(b.clock.Now().Add(time.Minute))
			b.remove(t, next)
			created += len(b.settle(t))
			next = map[string]string{"leaf": "mid", "mid": "leaf"}[next]
		}
		if created < 1 || created > 3 {
			t.Errorf("installed again %d times", created)
		}
	}
}

// That Interlock has installed an add-on before does not make it Interlock's where a user has created it.
func TestADependentOfAUserAsksSinceItIsThere(t *testing.T) {
	b := newUnit(t)
	b.createLeaf(t)
	b.settle(t)
	b.remove(t, "leaf", "mid", "base")
	b.settle(t)
	for i := range 4 {
		b.clock.SetTime(b.clock.Now().Add(5 * time.Minute))
		b.install(t, 0, "mid")
		if writes := b.settle(t); !slices.Equal(writes, []string{"create ManagedClusterAddOn base"}) {
			t.Fatalf("installed for the %dth time: %v", i+1, writes)
		}
		b.remove(t, "mid", "base")
		b.settle(t)
	}
}
