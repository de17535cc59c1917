package ondemand

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/test/fixture"
)

var label = catalog.InstallLabel("base")

// newLabelBench is a bench where so many Placements install base on the managed clusters that have the label.
func newLabelBench(t *testing.T, clusters, placements int) *bench {
	t.Helper()
	b := newBench(t, clusters)
	var listed string
	for i := range placements {
		b.placements = append(b.placements, placementOf("base", i))
		listed += fmt.Sprintf("{namespace: places, name: base-%d}, ", i)
	}
	b.register(t, b.placed(t, "{installStrategy: {type: Placements, placements: ["+listed+"]}}"), fixture.Specified(t, "leaf", needing))
	return b
}

// placementOf is a Placement that selects the managed clusters with the label of an add-on.
func placementOf(addOn string, i int) clusterv1beta1.Placement {
	placement := clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "places", Name: fmt.Sprintf("%s-%d", addOn, i)}}
	placement.Spec.Tolerations = []clusterv1beta1.Toleration{{Operator: clusterv1beta1.TolerationOpExists}}
	placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{catalog.InstallLabel(addOn): addonv1alpha1.InstallLabelValue}},
	}}}
	return placement
}

// placed is the registration of base with an install strategy, whose owner approves all changes.
func (b *bench) placed(t *testing.T, spec string) addonv1alpha1.ClusterManagementAddOn {
	t.Helper()
	registered := fixture.Specified(t, "base", spec)
	registered.Annotations = map[string]string{
		addonv1alpha1.ApproveInstallAnnotation: "1000", addonv1alpha1.ApproveRemovalAnnotation: "1000",
	}
	return registered
}

// place installs base on the managed clusters with the label, like OCM.
func (b *bench) place(t *testing.T) {
	t.Helper()
	crash := b.crash
	defer func() { b.crash = crash }()
	b.crash = func(string) error { return nil }
	if !b.Declarations.Current().Install("base").Placed {
		return
	}
	for i := range b.clusters {
		installed, err := b.Inputs.AddOn(t.Context(), keyOn(i, "base"))
		switch {
		case err != nil:
			t.Fatal(err)
		case b.labeled(t, i) && installed == nil:
			b.create(t, addOn(i, "base"))
		case !b.labeled(t, i) && installed != nil:
			b.delete(t, installed)
		}
	}
}

func (b *bench) labeled(t *testing.T, i int) bool {
	t.Helper()
	cluster := &clusterv1.ManagedCluster{}
	if err := b.hub.Get(t.Context(), client.ObjectKeyFromObject(clusterOf(i)), cluster); err != nil {
		t.Fatal(err)
	}
	return fleet.HasInstallLabel(cluster, "base")
}

// setLabel has another writer set the label of base on the first managed cluster, or take it away.
func (b *bench) setLabel(t *testing.T, set bool) {
	t.Helper()
	b.setLabelOf(t, "base", set)
}

func (b *bench) setLabelOf(t *testing.T, addOn string, set bool) {
	t.Helper()
	value := "null"
	if set {
		value = `"true"`
	}
	labels := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, catalog.InstallLabel(addOn), value)
	patch := client.RawPatch(types.MergePatchType, labels)
	if err := b.hub.Patch(t.Context(), clusterOf(0), patch, client.FieldOwner("kubectl")); err != nil {
		t.Fatal(err)
	}
}

func TestItInstallsAndRemovesByLabel(t *testing.T) {
	b := newLabelBench(t, 1, 2)
	want := []string{
		"create AddOnInstallation base", "apply ManagedCluster cluster000", "update AddOnInstallation base", "update AddOnInstallation base",
	}
	if writes := b.settle(t); !slices.Equal(writes, want) || b.stored(t) != "Installed" {
		t.Errorf("installed by %q, stored %s", writes, b.stored(t))
	}
	b.delete(t, addOn(0, "leaf"))
	b.settle(t)
	if b.stored(t) != "Unused" || !b.labeled(t, 0) {
		t.Errorf("stored %s", b.stored(t))
	}
	if _, err := b.round(t, time.Hour); err != nil {
		t.Error(err)
	}
	if b.labeled(t, 0) {
		t.Error("the label is left")
	}
	if b.settle(t); b.stored(t) != "" || b.installed(t) != 0 {
		t.Errorf("stored %q after the removal", b.stored(t))
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventInstalls, EventRemoves}) {
		t.Errorf("emitted %q", got)
	}
}

// Wherever the process ends, the next leader ends where this one would have.
func TestACrashAtAnyWriteOfALabel(t *testing.T) {
	for _, write := range []string{
		"create AddOnInstallation base", "apply ManagedCluster cluster000", "update AddOnInstallation base", "delete AddOnInstallation base",
	} {
		for _, moment := range []string{"before ", "after "} {
			t.Run(moment+write, func(t *testing.T) {
				b := newLabelBench(t, 1, 2)
				endsAtAnyWrite(t, b, moment+write)
				if b.labeled(t, 0) {
					t.Error("the label is left")
				}
			})
		}
	}
}

// A label that another writer takes away is set again, and given up when that happens once more.
func TestALabelThatIsTakenAway(t *testing.T) {
	b := newLabelBench(t, 1, 2)
	b.settle(t)
	for range 2 {
		b.setLabel(t, false)
		b.settle(t)
	}
	if b.stored(t) != "GivenUp" || b.labeled(t, 0) || b.installed(t) != 0 {
		t.Errorf("stored %s", b.stored(t))
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventInstalls, EventInstalls, EventGivenUp}) {
		t.Errorf("emitted %q", got)
	}
}

// A writer that takes each label away at once does not let OCM install the add-on first.
func TestALabelThatIsTakenAwayAtOnce(t *testing.T) {
	b := newLabelBench(t, 1, 2)
	applied := 0
	b.crash = func(now string) error {
		if now == "after apply ManagedCluster cluster000" {
			applied++
			b.setLabel(t, false)
		}
		return nil
	}
	b.settle(t)
	if applied != 2 || b.stored(t) != "GivenUp" || b.labeled(t, 0) {
		t.Errorf("labeled %d times, stored %s", applied, b.stored(t))
	}
}

// unlabeled reads managed clusters as they were before they had a label.
type unlabeled struct {
	client.Reader

	label string
}

func (u unlabeled) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := u.Reader.Get(ctx, key, object, options...)
	if cluster, ok := object.(*clusterv1.ManagedCluster); ok {
		delete(cluster.Labels, u.label)
	}
	return err
}

func (u unlabeled) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := u.Reader.List(ctx, list, options...)
	isLabel := func(option client.ListOption) bool { _, ok := option.(client.HasLabels); return ok }
	if clusters, ok := list.(*clusterv1.ManagedClusterList); ok && slices.ContainsFunc(options, isLabel) {
		clusters.Items = nil
	}
	return err
}

// A new leader has the AddOnInstallation in its cache before the labeled ManagedCluster.
func TestALabelThatTheCacheDoesNotHaveYet(t *testing.T) {
	b := newLabelBench(t, 1, 2)
	b.settle(t)
	b.Inputs.Reader = hubcache.NewReader(unlabeled{b.hub, label})
	object := &dependencyv1alpha1.AddOnInstallation{}
	if writes := b.settle(t); len(writes) > 0 {
		t.Errorf("written %q", writes)
	}
	if err := b.hub.Get(t.Context(), keyOn(0, "base"), object); err != nil || object.Status.Undone != nil {
		t.Errorf("%v, undone %v", err, object.Status.Undone)
	}
}

// The owner of an add-on with Placements pauses them, and its annotation for installation on demand has no effect meanwhile.
func TestAnOwnerPausesPlacementsOfAnAddOnOnDemand(t *testing.T) {
	b := newLabelBench(t, 1, 2)
	b.settle(t)
	leaf := fixture.Specified(t, "leaf", needing)
	onDemand := func(spec string) addonv1alpha1.ClusterManagementAddOn {
		registered := b.placed(t, spec)
		registered.Annotations[addonv1alpha1.InstallOnDemandAnnotation] = "true"
		return registered
	}
	b.register(t, onDemand("{installStrategy: {type: Manual}}"), leaf)
	b.delete(t, addOn(0, "leaf"))
	b.settle(t)
	writes, err := b.round(t, 2*time.Hour)
	if err != nil || !b.labeled(t, 0) || b.installed(t) != 1 || b.stored(t) != "Installed NeedsConsent" {
		t.Errorf("paused: %q, %v, stored %s", writes, err, b.stored(t))
	}
	b.register(t, onDemand("{installStrategy: {type: Placements, "+
		"placements: [{namespace: places, name: base-0}, {namespace: places, name: base-1}]}}"), leaf)
	for range 3 {
		if _, err := b.round(t, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if b.settle(t); b.labeled(t, 0) || b.installed(t) != 0 || b.stored(t) != "" {
		t.Errorf("consenting again: stored %s, %d are installed", b.stored(t), b.installed(t))
	}
}

// If an owner pauses, or replaces a registration, Interlock uninstalls nothing.
func TestAnOwnerPausesAndReplaces(t *testing.T) {
	b := newLabelBench(t, 1, 2)
	b.settle(t)
	leaf := fixture.Specified(t, "leaf", needing)
	b.register(t, b.placed(t, "{installStrategy: {type: Manual}}"), leaf)
	if writes := b.settle(t); len(writes) > 0 || !b.labeled(t, 0) || b.stored(t) != "Installed" {
		t.Errorf("paused: %q, stored %s", writes, b.stored(t))
	}
	b.register(t, leaf)
	b.delete(t, addOn(0, "base"))
	if b.settle(t); !b.labeled(t, 0) {
		t.Errorf("deleted: stored %s", b.stored(t))
	}
	b.register(t, b.placed(t, "{installStrategy: {type: Placements, "+
		"placements: [{namespace: places, name: base-0}, {namespace: places, name: base-1}]}}"), leaf)
	if b.settle(t); b.installed(t) != 1 || b.stored(t) != "Installed" || slices.Contains(b.emitted(), EventGivenUp) {
		t.Errorf("registered again: stored %s, %d are installed", b.stored(t), b.installed(t))
	}
}

// A label that another writer sets too stays, and no longer belongs to Interlock.
func TestALabelOfTwoWriters(t *testing.T) {
	b := newLabelBench(t, 1, 2)
	b.settle(t)
	applied := &unstructured.Unstructured{}
	applied.SetGroupVersionKind(schema.GroupVersionKind{Group: clusterv1.GroupName, Version: "v1", Kind: "ManagedCluster"})
	applied.SetName(clusterOf(0).Name)
	applied.SetLabels(map[string]string{label: addonv1alpha1.InstallLabelValue})
	if err := b.hub.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("gitops")); err != nil {
		t.Fatal(err)
	}
	b.delete(t, addOn(0, "leaf"))
	b.settle(t)
	if _, err := b.round(t, time.Hour); err != nil {
		t.Error(err)
	}
	if b.settle(t); b.stored(t) != "Kept" || !b.labeled(t, 0) || b.installed(t) != 1 {
		t.Errorf("stored %s", b.stored(t))
	}
}

// With one Placement, an add-on is installed on 100 managed clusters: Open Cluster Management may uninstall it for a moment where it has
// more.
func TestOnePlacementIsLimited(t *testing.T) {
	b := newLabelBench(t, 102, 1)
	for range 12 {
		if _, err := b.round(t, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.installed(t); got != 100 {
		t.Errorf("installed on %d", got)
	}
	waits := 0
	for i := range 102 {
		if b.Inputs.Installations.Wait(keyOn(i, "base")) == evaluation.WaitForPlacement {
			waits++
		}
	}
	if waits != 2 {
		t.Errorf("%d wait", waits)
	}
}

// The limit holds where the cache does not have the newest labels yet.
func TestOnePlacementIsLimitedByWhatIsStored(t *testing.T) {
	b := newLabelBench(t, 101, 1)
	b.Inputs.Reader = hubcache.NewReader(unlabeled{b.hub, label})
	for range 12 {
		if _, err := b.round(t, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.installed(t); got != 100 {
		t.Errorf("installed on %d", got)
	}
}

// A label of another writer is never changed, whether an add-on there needs it or not.
func TestALabelOfAnotherWriter(t *testing.T) {
	b := newLabelBench(t, 1, 2)
	b.delete(t, addOn(0, "leaf"))
	b.setLabel(t, true)
	if writes := b.settle(t); len(writes) > 0 || b.installed(t) != 1 {
		t.Errorf("writes %q", writes)
	}
	b.create(t, addOn(0, "leaf"))
	if writes := b.settle(t); len(writes) > 0 || b.installed(t) != 1 {
		t.Errorf("needed: writes %q", writes)
	}
	b.delete(t, addOn(0, "leaf"))
	b.settle(t)
	if _, err := b.round(t, time.Hour); err != nil {
		t.Error(err)
	}
	if writes := b.settle(t); len(writes) > 0 || b.installed(t) != 1 {
		t.Errorf("unused: writes %q", writes)
	}
}
