package ondemand

import (
	"context"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgofake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/test/fixture"
)

// newConflictBench is a bench where OCM installs the add-on other by its label, and where other conflicts with base. The
// label of another writer is on the first managed cluster, on which OCM has not installed other yet.
func newConflictBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, 1)
	placement := placementOf("other", 0)
	b.placements = append(b.placements, placement)
	b.register(t, consenting(t, "50"), fixture.Specified(t, "leaf", needing), fixture.Specified(t, "other",
		"{installStrategy: {type: Placements, placements: [{namespace: places, name: other-0}]}, dependencies: [{name: base, type: Conflicts}]}"))
	b.setLabelOf(t, "other", true)
	return b
}

// An add-on that OCM is about to install counts as installed.
func TestAContradictionWithAnAwaitedAddOn(t *testing.T) {
	b := newConflictBench(t)
	b.settle(t)
	if b.installed(t) != 0 || b.Inputs.Installations.Wait(keyOn(0, "base")) != evaluation.WaitContradiction {
		t.Errorf("installed on %d, waits for %q", b.installed(t), b.Inputs.Installations.Wait(keyOn(0, "base")))
	}
	b.setLabelOf(t, "other", false)
	if b.settle(t); b.installed(t) != 1 {
		t.Error("it is not installed after the label was taken away")
	}
}

// Where the cache does not have the newest add-ons or labels of a managed cluster yet, nothing is installed.
func TestTheCacheIsBehindAContradiction(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, b *bench)
		stale  func(b *bench) client.Reader
	}{
		"Label": {func(*testing.T, *bench) {}, func(b *bench) client.Reader { return unlabeled{b.hub, catalog.InstallLabel("other")} }},
		"AddOn": {
			func(t *testing.T, b *bench) { t.Helper(); b.create(t, addOn(0, "other")) },
			func(b *bench) client.Reader { return without{unlabeled{b.hub, catalog.InstallLabel("other")}, "other"} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newConflictBench(t)
			test.change(t, b)
			b.Inputs.Reader = hubcache.NewReader(test.stale(b))
			b.Assessor.Loader.Reader = b.Inputs
			if writes := b.settle(t); len(writes) > 0 {
				t.Errorf("written %q", writes)
			}
			b.Inputs.Reader = hubcache.NewReader(b.hub)
			b.Assessor.Loader.Reader = b.Inputs
			b.settle(t)
			if b.installed(t) != 0 || b.Inputs.Installations.Wait(keyOn(0, "base")) != evaluation.WaitContradiction {
				t.Errorf("installed on %d, waits for %q", b.installed(t), b.Inputs.Installations.Wait(keyOn(0, "base")))
			}
		})
	}
}

// An add-on is not installed if Interlock could not install what it needs in turn.
func TestADeepContradiction(t *testing.T) {
	b := newBench(t, 1)
	base := consenting(t, "50")
	base.Spec.Dependencies = fixture.Specified(t, "base", "{dependencies: [{name: mid, install: Auto}]}").Spec.Dependencies
	b.register(t, base, fixture.Specified(t, "mid", "{installStrategy: {type: Manual}, dependencies: [{name: other, type: Conflicts}]}"),
		fixture.Specified(t, "leaf", needing), fixture.Specified(t, "other", "{}"))
	b.create(t, addOn(0, "other"))
	b.settle(t)
	if b.installed(t) != 0 || b.Inputs.Installations.Wait(keyOn(0, "base")) != evaluation.WaitContradiction {
		t.Errorf("installed on %d, waits for %q", b.installed(t), b.Inputs.Installations.Wait(keyOn(0, "base")))
	}
	b.delete(t, addOn(0, "other"))
	if b.settle(t); b.installed(t) != 1 {
		t.Error("it is not installed once nothing contradicts")
	}
}

// A process that another one has replaced takes no step, even if it has not noticed it yet.
func TestAReplacedLeader(t *testing.T) {
	b := newBench(t, 1)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "interlock-system", Name: "lease"}}
	lease.Spec.HolderIdentity = ptr.To("other")
	leases := clientgofake.NewClientset(lease).CoordinationV1()
	b.Election = leadership.Election{Leases: leases, Lease: client.ObjectKeyFromObject(lease), Identity: "own"}
	if writes := b.settle(t); len(writes) > 0 {
		t.Errorf("written %q", writes)
	}
	lease.Spec.HolderIdentity = ptr.To("own")
	if _, err := leases.Leases(lease.Namespace).Update(t.Context(), lease, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if b.settle(t); b.installed(t) != 1 {
		t.Error("the leader does not install it")
	}
}

// without reads a hub without the ManagedClusterAddOns of one name.
type without struct {
	client.Reader

	addOn string
}

func (w without) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, ok := object.(*addonv1alpha1.ManagedClusterAddOn); ok && key.Name == w.addOn {
		key.Name = "none"
	}
	return w.Reader.Get(ctx, key, object, options...)
}

func (w without) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := w.Reader.List(ctx, list, options...)
	switch list := list.(type) {
	case *addonv1alpha1.ManagedClusterAddOnList:
		list.Items = withoutNamed(list.Items, w.addOn)
	case *metav1.PartialObjectMetadataList:
		list.Items = withoutNamed(list.Items, w.addOn)
	}
	return err
}

func withoutNamed[T any, O interface {
	*T
	client.Object
}](items []T, name string) (others []T) {
	for i := range items {
		if O(&items[i]).GetName() != name {
			others = append(others, items[i])
		}
	}
	return others
}
