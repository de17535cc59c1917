package installation

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/test/fixture"
)

const conditional = `dependencies: [{name: base, install: Auto, removal: WithLastDependent, when: {expression: "false"}}]`

// base0 is base on the first managed cluster.
var base0 = installation.Target{Cluster: "cluster000", AddOn: "base"}

// goesOn expects that the hour goes on that began half an hour ago.
func (b *bench) goesOn(t *testing.T, since string) {
	t.Helper()
	if writes := b.later(t, hour/2-time.Second); len(writes) > 0 {
		t.Errorf("too early: %v", writes)
	}
	b.wantMark(t, since, 0)
	if writes := b.later(t, time.Second); len(writes) != 1 {
		t.Errorf("not removed: %v", writes)
	}
}

// The first plan of a new leader may be made before it has evaluated the add-ons that declare to need another one.
func TestANewLeaderLeavesMarksUntilItKnowsWhatIsUsed(t *testing.T) {
	for name, way := range ways {
		begin := func(t *testing.T) (b *bench, since string) {
			t.Helper()
			b = newInstalled(t, way.base, way.onDemand, 1)
			b.registered(t, conditional)
			b.install(t, 0, "leaf")
			b.needs(0)
			b.later(t, 0)
			since, b.patches = b.mark(t), 0
			b.lead()
			b.later(t, hour/4)
			b.later(t, hour/4)
			b.wantMark(t, since, 0)
			return b, since
		}
		t.Run(name+", not used", func(t *testing.T) {
			b, since := begin(t)
			b.needs(0)
			b.goesOn(t, since)
		})
		t.Run(name+", used", func(t *testing.T) {
			b, _ := begin(t)
			b.registered(t, withLast)
			b.needs(0)
			b.later(t, time.Minute)
			b.wantMark(t, "", 1)
		})
		t.Run(name+", used, and not any more", func(t *testing.T) {
			b, _ := begin(t)
			b.registered(t, withLast)
			b.later(t, 0)
			b.registered(t, conditional)
			b.needs(0)
			again := markOf(b.clock.Now())
			b.later(t, 0)
			b.wantMark(t, again, 2)
		})
		t.Run(name+", denied meanwhile", func(t *testing.T) {
			b, _ := begin(t)
			b.deny(t)
			b.later(t, time.Minute)
			b.wantMark(t, "", 1)
		})
	}
}

// Nor does it know at first what AddOnTemplates declare.
func TestANewLeaderLeavesMarksUntilItHasReadTemplates(t *testing.T) {
	base := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "base"}}
	base.Annotations = map[string]string{addonv1alpha1.InstallOnDemandAnnotation: "true"}
	base.Spec = fixture.Specified(t, "base", "{"+listed+"}").Spec
	for name, test := range map[string]struct {
		leaf, user addonv1alpha1.ClusterManagementAddOn
	}{
		"they may use it":            {fixture.Specified(t, "leaf", "{"+withLast+"}"), fixture.Deployed(fixture.Specified(t, "user", "{}"))},
		"they may have it installed": {fixture.Deployed(fixture.Specified(t, "leaf", "{}")), fixture.Specified(t, "user", "{}")},
	} {
		t.Run(name, func(t *testing.T) {
			all := []addonv1alpha1.ClusterManagementAddOn{base, test.leaf, test.user}
			declare := func(b *bench, templates catalog.Templates) {
				b.declared = evaluation.New((*catalog.Catalog)(nil).Renew(all, templates))
				b.Declarations.Set(b.declared)
			}
			read := catalog.Templates{Items: []addonv1alpha1.AddOnTemplate{
				fixture.Template("leaf", "leaf-1", "[{name: base, install: Auto, removal: WithLastDependent}]"),
				fixture.Template("user", "user-1", "[]"),
			}}
			b := newInstalled(t, listed, false, 1)
			declare(b, read)
			b.install(t, 0, "user")
			b.later(t, 0)
			since := b.mark(t)
			b.patches = 0
			b.lead()
			declare(b, catalog.Templates{Unread: true})
			b.later(t, hour/4)
			b.wantMark(t, since, 0)
			declare(b, read)
			b.later(t, hour/4)
			b.wantMark(t, since, 0)
			if since == "" || markOf(b.removals.Since(base0)) != since {
				t.Errorf("goes on from %q, marked %q", markOf(b.removals.Since(base0)), since)
			}
		})
	}
}

// Nor what other Placements select.
func TestANewLeaderLeavesMarksUntilItHasReadPlacements(t *testing.T) {
	b := newInstalled(t, listed, false, 1)
	b.later(t, 0)
	since := b.mark(t)
	b.patches = 0
	b.lead()
	alone := b.declared
	unread := demanding{demanded: map[input.Set]bool{}}
	b.Inputs.Watches = unread
	b.declared = evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "base", `{installStrategy: {type: Placements, placements: [
			{namespace: open-cluster-management-interlock, name: base}, {namespace: other, name: other}]}}`),
		fixture.Specified(t, "leaf", "{"+withLast+"}"),
	}))
	b.Declarations.Set(b.declared)
	b.later(t, hour/2)
	b.wantMark(t, since, 0)
	if !unread.demanded[input.Placements] {
		t.Error("Placements are not read, because no dependency is missing")
	}
	b.Declarations.Set(alone)
	b.goesOn(t, since)
}

// demanding are watches that have read nothing yet. It records the inputs that are demanded.
type demanding struct {
	fixture.Watches
	demanded map[input.Set]bool
}

func (d demanding) Demand(of input.Set) bool {
	d.demanded[of] = true
	return false
}

// remark has another writer change the mark of a managed cluster.
func (b *bench) remark(t *testing.T, of client.Object, value any) {
	t.Helper()
	text, ok := value.(string)
	if !ok {
		all, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		text = string(all)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		addonv1alpha1.UnusedSinceAnnotation: text,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.hub.Patch(t.Context(), of, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("another")); err != nil {
		t.Fatal(err)
	}
	b.patches = 0
}

// Each writer of the annotation could shorten the hour.
func TestTheMarkOfAnotherWriterIsNotBelieved(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			b := newInstalled(t, way.base, way.onDemand, 1)
			b.later(t, 0)
			early := markOf(b.clock.Now().Add(-hour))
			if way.onDemand {
				b.remark(t, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster000", Name: "base"}}, early)
			} else {
				b.remark(t, decision(), marks{"cluster000": early})
			}
			b.lead()
			again := markOf(b.clock.Now().Add(time.Minute))
			if writes := b.later(t, time.Minute); len(writes) > 0 {
				t.Errorf("removed too early: %v", writes)
			}
			b.wantMark(t, again, 1)
		})
	}
	t.Run("and does not become Interlock's", func(t *testing.T) {
		b := newInstalled(t, listed, false, 2)
		b.registered(t, conditional)
		b.install(t, 0, "leaf")
		b.needs(0)
		b.later(t, 0)
		b.remark(t, decision(), marks{"cluster000": markOf(b.clock.Now().Add(-hour))})
		b.lead()
		b.later(t, time.Minute) // leaf is not evaluated yet
		b.wantMark(t, "", 1)
	})
}

func decision() *clusterv1beta1.PlacementDecision {
	return &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: addonv1alpha1.InstallNamespace, Name: "base-interlock-1",
	}}
}

// The hour ends when an add-on uses what was not used, although nothing has to be installed for it.
func TestTheControllerFollowsWhatUsesAnAddOnAgain(t *testing.T) {
	for name, test := range map[string]struct {
		leaf string
		want bool
	}{
		"it uses it": {withLast, true}, "it does not": {conditional, false}, "it uses another one": {`dependencies: [{name: leaf2}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newInstalled(t, listed, false, 1)
			b.registered(t, test.leaf)
			b.Needs.follow(map[string][]string{"base": installation.Users(b.declared.Catalog, "base")}, []installation.Target{base0})
			installed := func(string) evaluation.Observation { return evaluation.Observation{Installed: true} }
			findings := b.declared.Evaluate("leaf", b.declared.State("leaf", evaluation.Cluster{}, installed))
			leaf := types.NamespacedName{Namespace: "cluster000", Name: "leaf"}
			b.Needs.Found(leaf, b.declared, findings)
			if got := b.Needs.decide(leaf, b.declared, findings); got != test.want {
				t.Errorf("triggered: %t", got)
			}
			b.Needs.follow(b.Needs.users, nil) // as after the plan that this triggers
			if b.Needs.decide(leaf, b.declared, findings) {
				t.Error("triggered for ever")
			}
		})
	}
}
