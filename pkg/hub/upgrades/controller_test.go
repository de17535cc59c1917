package upgrades

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/actingbench"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

const upgradesOrdered = "{ordering: InstallAndUpgrade}"

// given is what is on the hub: leaf runs v1, and v2, its default, needs base.
type given struct {
	declares string
	// wants is the default of the registration, and own what leaf names itself.
	wants, own string
	// live is the default that the catalog does not know yet; empty: it knows all.
	live   string
	stored []metav1.Condition
	// runs is what leaf runs, and desires what OCM deploys instead; empty: nothing else.
	runs, desires string
	base          bool
	lost          bool
	// edited: v2 needs more by now than the catalog knows. deleted: it is no more, and forgotten: the catalog knows that.
	edited, deleted, forgotten bool
}

func newBench(t *testing.T, is given) (*actingbench.Hub, *Reconciler) {
	t.Helper()
	registered := fixture.Deployed(fixture.Specified(t, "leaf", is.declares))
	//nolint:staticcheck // v1alpha1 has no other field for it
	registered.Spec.SupportedConfigs[0].DefaultConfig = &ocmv1alpha1.ConfigReferent{Name: is.wants}
	leaf := actingbench.AddOn("leaf", is.stored...)
	*leaf = fixture.Holds("v2", *leaf)
	if is.own != "" {
		own := ocmv1alpha1.AddOnConfig{ConfigGroupResource: declaration.Templates, ConfigReferent: ocmv1alpha1.ConfigReferent{Name: is.own}}
		leaf.Spec.Configs = []ocmv1alpha1.AddOnConfig{own}
	}
	if is.runs != "" {
		leaf.Status.ConfigReferences = fleet.WithTemplate(leaf, is.runs, true).Status.ConfigReferences
	}
	if is.desires != "" {
		leaf.Status.ConfigReferences = fleet.WithTemplate(leaf, is.desires, false).Status.ConfigReferences
	}
	base := actingbench.AddOn("other")
	if is.base {
		base = actingbench.AddOn("base", actingbench.Condition("Available", metav1.ConditionTrue, "Fine", ""))
	}
	v2 := fixture.Template("leaf", "v2", "[{name: base}]")
	v2.Annotations[addonv1alpha1.AddOnVersionAnnotation] = "2.0.0"
	templates := []addonv1alpha1.AddOnTemplate{fixture.Template("leaf", "v1", "[]"), v2}
	if is.forgotten {
		templates = templates[:1]
	}
	hub := actingbench.New(t, []addonv1alpha1.ClusterManagementAddOn{registered}, templates, is.lost, leaf, base)
	if is.deleted {
		if err := hub.Delete(t.Context(), v2.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	if is.live != "" {
		registered.Spec.SupportedConfigs[0].DefaultConfig.Name = is.live //nolint:staticcheck // v1alpha1 has no other field for it
		if err := hub.Create(t.Context(), &registered); err != nil {
			t.Fatal(err)
		}
	}
	if is.edited {
		stored := &addonv1alpha1.AddOnTemplate{}
		if err := hub.Get(t.Context(), client.ObjectKeyFromObject(&v2), stored); err != nil {
			t.Fatal(err)
		}
		stored.Annotations[addonv1alpha1.TemplateDependenciesAnnotation] = "[{name: base}, {name: more}]"
		if err := hub.Update(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
	}
	return hub, &Reconciler{AddOns: hub.AddOns, Live: hub}
}

// waits is the condition while v2 waits.
func waits(message string) []metav1.Condition {
	return []metav1.Condition{actingbench.Condition("Upgradable", metav1.ConditionFalse, gate.ReasonWaiting, message)}
}

const missing = "AddOnTemplate 'v2' (version 2.0.0) waits: Required addon 'base' is not installed or not available. " +
	"(not installed: it has no ClusterManagementAddOn on this hub)"

func TestReconcile(t *testing.T) {
	marked := []metav1.Condition{actingbench.Condition("Upgradable", metav1.ConditionTrue, gate.ReasonNothingWaits, gate.NothingWaits.Message)}
	for name, test := range map[string]struct {
		is     given
		want   string // begins with; empty: no condition
		writes int
	}{
		"Marked":       {given{declares: upgradesOrdered, wants: "v1", runs: "v1"}, "True NothingWaits", 1},
		"IsMarked":     {given{declares: upgradesOrdered, wants: "v1", runs: "v1", stored: marked}, "True NothingWaits", 0},
		"NotInstalled": {given{declares: upgradesOrdered, wants: "v1"}, "", 0},
		"Installing":   {given{declares: upgradesOrdered, wants: "v1", desires: "v1"}, "", 0},
		"NotOrdered":   {given{declares: "{ordering: Install}", wants: "v1", runs: "v1"}, "", 0},
		"Waits": {
			given{declares: upgradesOrdered, wants: "v2", runs: "v1", stored: waits(missing)}, "False WaitingForDependencies " + missing, 0,
		},
		"ForSomethingElse": {
			given{declares: upgradesOrdered, wants: "v2", runs: "v1", stored: waits("AddOnTemplate 'v2' (version 2.0.0) waits: x")},
			"False WaitingForDependencies " + missing, 1,
		},
		"Opens": {
			given{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, stored: waits(missing)},
			"True RequiredDependenciesSatisfied All that AddOnTemplate 'v2' (version 2.0.0) requires", 1,
		},
		"Lost": {
			given{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, lost: true, stored: waits(missing)}, "False Waiting", 0,
		},
		"OrderedNoMore": {
			given{declares: "{ordering: Install}", wants: "v2", runs: "v1", stored: waits(missing)},
			"True GateOpened The add-on does not declare", 1,
		},
		"RolledOut": {
			given{declares: upgradesOrdered, wants: "v2", desires: "v2", stored: waits(missing)},
			"True GateOpened AddOnTemplate 'v2' (version 2.0.0) is rolled out", 1,
		},
		"IsThere": {
			given{declares: upgradesOrdered, wants: "v2", runs: "v2", stored: waits(missing)},
			"True GateOpened AddOnTemplate 'v2' (version 2.0.0) is rolled out", 1,
		},
		"TakenBack": {
			given{declares: upgradesOrdered, wants: "v1", runs: "v1", stored: waits(missing)},
			"True GateOpened AddOnTemplate 'v2' (version 2.0.0) is not to be", 1,
		},
		"CatalogIsBehind": {
			given{declares: upgradesOrdered, wants: "v1", live: "v2", runs: "v1", stored: waits(missing)}, "False Waiting", 0,
		},
		"CatalogIsBehindATemplate": {
			given{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, edited: true, stored: waits(missing)}, "False Waiting", 0,
		},
		"Deleted": {
			given{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, deleted: true, stored: waits(missing)},
			"False WaitingForDependencies AddOnTemplate 'v2' waits: it does not exist", 1,
		},
		"DeletedAsTheCatalogKnows": {
			given{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, forgotten: true, stored: waits(missing)},
			"False WaitingForDependencies AddOnTemplate 'v2' waits: it does not exist", 1,
		},
		"OnlyForItself": {given{declares: upgradesOrdered, wants: "v1", own: "v2", runs: "v1", stored: waits(missing)}, "False Waiting", 0},
		"NotForItself":  {given{declares: upgradesOrdered, wants: "v2", own: "v1", runs: "v1", stored: waits(missing)}, "True GateOpened", 1},
		"CannotBeUsed": {
			given{declares: "{ordering: InstallAndUpgrade, dependencies: [{name: b, version: x}]}", wants: "v2", runs: "v1", stored: waits(missing)},
			"False Waiting", 0,
		},
		"AnotherMessage": {
			given{declares: upgradesOrdered, wants: "v2", runs: "v1", stored: waits("Mine")}, "False WaitingForDependencies " + missing, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			hub, r := newBench(t, test.is)
			got := ""
			if one := fleet.Upgradable(hub.Settle(t, r)); one != nil {
				got = string(one.Status) + " " + one.Reason + " " + one.Message
			}
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" || hub.Writes != test.writes {
				t.Errorf("%q, %d writes", got, hub.Writes)
			}
		})
	}
}

// newSatisfied is a hub on which v2 waits, and what it needs is there.
func newSatisfied(t *testing.T) (*actingbench.Hub, reconcile.Reconciler) {
	t.Helper()
	return newBench(t, given{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, stored: waits(missing)})
}

func TestFaults(t *testing.T) {
	actingbench.Faults(t, "write Upgradable=True/RequiredDependenciesSatisfied of cluster1/leaf", newSatisfied,
		func(leaf *addonv1alpha1.ManagedClusterAddOn) bool {
			upgradable := fleet.Upgradable(leaf)
			return upgradable != nil && upgradable.Status == metav1.ConditionTrue
		})
}

// Where admission lets the template wait again and again, it is opened at growing intervals.
func TestAdmissionIsNotFought(t *testing.T) {
	hub, r := newSatisfied(t)
	hub.Insist(t, r, waits(missing)...)
}

func TestWhatIsEnqueued(t *testing.T) {
	for name, test := range map[string]struct {
		is   given
		want int
	}{
		"to be marked": {given{declares: upgradesOrdered, wants: "v1", runs: "v1"}, 1},
		"it waits":     {given{declares: "{}", wants: "v2", runs: "v1", stored: waits(missing)}, 1},
		"not ordered":  {given{declares: "{ordering: Install}", wants: "v1", runs: "v1"}, 0},
		"not there":    {given{declares: upgradesOrdered, wants: "v1"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			hub, r := newBench(t, test.is)
			enqueued := triggertest.Enqueued(t, r.Evaluate)
			r.Evaluated(actingbench.Leaf)
			if got := enqueued(); len(got) != test.want {
				t.Errorf("enqueued by its evaluation: %q", got)
			}
			leaf := &addonv1alpha1.ManagedClusterAddOn{}
			if err := hub.Get(t.Context(), actingbench.Leaf, leaf); err != nil {
				t.Fatal(err)
			}
			if got := r.concerns(leaf); got != (test.want == 1) {
				t.Errorf("enqueued by its change: %t", got)
			}
		})
	}
}
