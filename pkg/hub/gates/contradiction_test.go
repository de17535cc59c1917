package gates

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/actingbench"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

// contradictingBench has leaf in version 2.0, which OCM has created, and stem, which is installed and declares something of leaf.
func contradictingBench(t *testing.T, is given, stem string) *bench {
	t.Helper()
	is.gate = addonv1alpha1.GateClosed
	b := newBench(t, is)
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := b.hub.Get(t.Context(), leaf, addOn); err != nil {
		t.Fatal(err)
	}
	addOn.Annotations[addonv1alpha1.GateCauseAnnotation] = addonv1alpha1.GateCauseContradiction
	addOn.Annotations[addonv1alpha1.AddOnVersionAnnotation] = "2.0"
	if err := b.hub.Update(t.Context(), addOn); err != nil {
		t.Fatal(err)
	}
	if err := b.hub.Create(t.Context(), actingbench.AddOn("stem", available(metav1.ConditionTrue)...)); err != nil {
		t.Fatal(err)
	}
	b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, leaf.Name, is.declares), fixture.Specified(t, "stem", stem),
	})))
	return b
}

func TestAddOnThatContradicts(t *testing.T) {
	const needsOld = `dependencies: [{name: leaf, type: IfInstalled, version: "< 2.0"}]`
	const closed, opened = addonv1alpha1.GateClosed, addonv1alpha1.GateOpen
	for name, test := range map[string]struct {
		is          given
		stem        string
		gate        string
		installable string // begins with
	}{
		"BreaksWhatIsInstalled": {
			given{declares: "{}"},
			needsOld, closed,
			"False Contradiction: would break 1 add-on: stem: Addon 'leaf' is installed, but not in version '< 2.0'.",
		},
		"ContradictsWhatItNeeds": {
			given{declares: "dependencies: [{name: stem, type: Conflicts}]"},
			"{}", closed,
			"False Contradiction: contradicts what it needs: Addon 'stem'",
		},
		"BothOrderedAndContradicting": {given{declares: orderedOnBase}, needsOld, closed, "False Contradiction: would break"},
		"NothingAnyMore": {
			given{declares: "{}"}, "{}", opened, "True RequiredDependenciesSatisfied: The add-on contradicts no installed add-on any more.",
		},
		"NothingAnyMoreButTheOrder": {
			given{declares: orderedOnBase}, "{}", closed, "False WaitingForDependencies: Required addon 'base' is not installed",
		},
		"LostCluster":       {given{declares: "{}", lost: true}, needsOld, closed, ""},
		"LostClusterOfNone": {given{declares: "dependencies: [{name: stem}]", lost: true}, "{}", closed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			gateIs, installable := contradictingBench(t, test.is, test.stem).settle(t)
			if gateIs != test.gate || !strings.HasPrefix(installable, test.installable) || test.installable == "" && installable != "" {
				t.Errorf("gate %q, Installable %q", gateIs, installable)
			}
		})
	}
}

// TestAContradictionThatEnds: the evaluation of the add-on that leaf contradicts, also of one that is deleted, brings leaf back.
func TestAContradictionThatEnds(t *testing.T) {
	b := contradictingBench(t, given{declares: "{}"}, `dependencies: [{name: leaf, type: IfInstalled, version: "< 2.0"}]`)
	enqueued := triggertest.Enqueued(t, b.Evaluate)
	if gateIs, _ := b.settle(t); gateIs != addonv1alpha1.GateClosed {
		t.Fatalf("gate %q", gateIs)
	}
	stem := types.NamespacedName{Namespace: leaf.Namespace, Name: "stem"}
	b.Evaluated(types.NamespacedName{Namespace: "cluster2", Name: "stem"})
	if got := enqueued(); len(got) > 0 {
		t.Errorf("an add-on on another cluster enqueues %q", got)
	}
	if err := b.hub.Delete(t.Context(), actingbench.AddOn(stem.Name)); err != nil {
		t.Fatal(err)
	}
	b.Evaluated(stem)
	if got := enqueued(); !slices.Contains(got, leaf.String()) {
		t.Fatalf("enqueued %q", got)
	}
	if gateIs, installable := b.settle(t); gateIs != addonv1alpha1.GateOpen || !strings.HasPrefix(installable,
		"True RequiredDependenciesSatisfied") {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
	b.Evaluated(stem)
	if got := enqueued(); len(got) > 0 {
		t.Errorf("after it was opened, %q", got)
	}
}
