package status

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

// contradictingBench returns a hub where OCM has created leaf in version 2.0. stem is installed and declares a dependency on leaf.
func contradictingBench(t *testing.T, hub gated, stem string) *lifecycleHub {
	t.Helper()
	hub.gate = addonv1alpha1.GateClosed
	b := newGated(t, hub)
	contradicts := b.read(t, leaf.Name)
	contradicts.Annotations[addonv1alpha1.GateCauseAnnotation] = addonv1alpha1.GateCauseContradiction
	contradicts.Annotations[addonv1alpha1.AddOnVersionAnnotation] = "2.0"
	if err := b.Update(t.Context(), contradicts); err != nil {
		t.Fatal(err)
	}
	if err := b.Create(t.Context(), addOn("stem", available(metav1.ConditionTrue)...)); err != nil {
		t.Fatal(err)
	}
	b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, leaf.Name, hub.declares), fixture.Specified(t, "stem", stem),
	})))
	return b
}

func TestAddOnThatContradicts(t *testing.T) {
	const needsOld = `dependencies: [{name: leaf, type: IfInstalled, version: "< 2.0"}]`
	const closed, opened = addonv1alpha1.GateClosed, addonv1alpha1.GateOpen
	for name, test := range map[string]struct {
		hub         gated
		stem        string
		gate        string
		installable string // begins with
	}{
		"BreaksWhatIsInstalled": {
			gated{declares: "{}"},
			needsOld, closed,
			"False Contradiction: would break 1 add-on: stem: Addon 'leaf' is installed, but not in version '< 2.0'.",
		},
		"ContradictsWhatItNeeds": {
			gated{declares: "dependencies: [{name: stem, type: Conflicts}]"},
			"{}", closed,
			"False Contradiction: contradicts what it needs: Addon 'stem'",
		},
		"BothOrderedAndContradicting": {gated{declares: orderedOnBase}, needsOld, closed, "False Contradiction: would break"},
		"NothingAnyMore": {
			gated{declares: "{}"}, "{}", opened, "True RequiredDependenciesSatisfied: The add-on contradicts no installed add-on any more.",
		},
		"NothingAnyMoreButTheOrder": {
			gated{declares: orderedOnBase}, "{}", closed, "False WaitingForDependencies: Required addon 'base' is not installed",
		},
		"LostCluster":       {gated{declares: "{}", lost: true}, needsOld, closed, ""},
		"LostClusterOfNone": {gated{declares: "dependencies: [{name: stem}]", lost: true}, "{}", closed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			gateIs, installable := contradictingBench(t, test.hub, test.stem).settled(t)
			if gateIs != test.gate || !strings.HasPrefix(installable, test.installable) || test.installable == "" && installable != "" {
				t.Errorf("gate %q, Installable %q", gateIs, installable)
			}
		})
	}
}

// A new assessment or the deletion of the add-on that leaf contradicts enqueues leaf.
func TestAContradictionThatEnds(t *testing.T) {
	b := contradictingBench(t, gated{declares: "{}"}, `dependencies: [{name: leaf, type: IfInstalled, version: "< 2.0"}]`)
	enqueued := triggertest.Enqueued(t, b.Evaluate)
	assessed := func(cluster string) []string {
		t.Helper()
		stem := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: cluster, Name: "stem"}}
		if _, err := b.Reconcile(t.Context(), stem); err != nil {
			t.Fatal(err)
		}
		return enqueued()
	}
	if gateIs, _ := b.settled(t); gateIs != addonv1alpha1.GateClosed {
		t.Fatalf("gate %q", gateIs)
	}
	if got := assessed("cluster2"); len(got) > 0 {
		t.Errorf("an add-on on another cluster enqueues %q", got)
	}
	if got := assessed(leaf.Namespace); !slices.Equal(got, []string{leaf.String()}) {
		t.Errorf("what is found for the first time enqueues %q", got)
	}
	if got := assessed(leaf.Namespace); len(got) > 0 {
		t.Errorf("what was found already enqueues %q", got)
	}
	if err := b.Delete(t.Context(), addOn("stem")); err != nil {
		t.Fatal(err)
	}
	if got := assessed(leaf.Namespace); !slices.Equal(got, []string{leaf.String()}) {
		t.Fatalf("enqueued %q", got)
	}
	if gateIs, installable := b.settled(t); gateIs != addonv1alpha1.GateOpen || !strings.HasPrefix(installable,
		"True RequiredDependenciesSatisfied") {
		t.Errorf("gate %q, Installable %q", gateIs, installable)
	}
	if got := assessed(leaf.Namespace); len(got) > 0 {
		t.Errorf("after it was opened, %q", got)
	}
}
