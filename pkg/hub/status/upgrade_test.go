package status

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

const upgradesOrdered = "{ordering: InstallAndUpgrade}"

// upgradable is the state of the hub: leaf runs v1, and v2, its default, needs base.
type upgradable struct {
	declares string
	// wants is the default template of the registration. own is the template that leaf itself names.
	wants, own string
	// live is a default template that the catalog lacks. It is empty if the catalog is current.
	live   string
	stored []metav1.Condition
	// runs is the template that leaf runs. desires is the template that OCM rolls out, if any.
	runs, desires string
	base          bool
	lost          bool
	// edited means that v2 needs more than in the catalog, deleted that v2 was deleted, and forgotten that the catalog lacks it too.
	edited, deleted, forgotten bool
}

func newUpgradable(t *testing.T, state upgradable) *lifecycleHub {
	t.Helper()
	registration := fixture.Deployed(fixture.Specified(t, "leaf", state.declares))
	//nolint:staticcheck // v1alpha1 has no other field for it
	registration.Spec.SupportedConfigs[0].DefaultConfig = &ocmv1alpha1.ConfigReferent{Name: state.wants}
	leafAddOn := addOn("leaf", state.stored...)
	*leafAddOn = fixture.Holds("v2", *leafAddOn)
	if state.own != "" {
		own := ocmv1alpha1.AddOnConfig{ConfigGroupResource: declaration.Templates, ConfigReferent: ocmv1alpha1.ConfigReferent{Name: state.own}}
		leafAddOn.Spec.Configs = []ocmv1alpha1.AddOnConfig{own}
	}
	if state.runs != "" {
		leafAddOn.Status.ConfigReferences = fleet.WithTemplate(leafAddOn, state.runs).Status.ConfigReferences
	}
	if state.desires != "" {
		leafAddOn.Status.ConfigReferences = fleet.WithRollout(leafAddOn, state.desires).Status.ConfigReferences
	}
	base := addOn("other")
	if state.base {
		base = addOn("base", since("Available", metav1.ConditionTrue, "Fine", ""))
	}
	v2 := fixture.Template("leaf", "v2", "[{name: base}]")
	v2.Annotations[addonv1alpha1.AddOnVersionAnnotation] = "2.0.0"
	templates := []addonv1alpha1.AddOnTemplate{fixture.Template("leaf", "v1", "[]"), v2}
	if state.forgotten {
		templates = templates[:1]
	}
	hub := newLifecycleHub(t, []addonv1alpha1.ClusterManagementAddOn{registration}, templates, state.lost, leafAddOn, base)
	if state.deleted {
		if err := hub.Delete(t.Context(), v2.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	if state.live != "" {
		registration.Spec.SupportedConfigs[0].DefaultConfig.Name = state.live //nolint:staticcheck // v1alpha1 has no other field for it
		if err := hub.Create(t.Context(), &registration); err != nil {
			t.Fatal(err)
		}
	}
	if state.edited {
		stored := &addonv1alpha1.AddOnTemplate{}
		if err := hub.Get(t.Context(), client.ObjectKeyFromObject(&v2), stored); err != nil {
			t.Fatal(err)
		}
		stored.Annotations[addonv1alpha1.TemplateDependenciesAnnotation] = "[{name: base}, {name: more}]"
		if err := hub.Update(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
	}
	return hub
}

// upgradeWaits returns the condition while v2 waits.
func upgradeWaits(message string) []metav1.Condition {
	return []metav1.Condition{since("Upgradable", metav1.ConditionFalse, gate.ReasonWaiting, message)}
}

const missing = "AddOnTemplate 'v2' (version 2.0.0) waits: Required addon 'base' is not installed or not available. " +
	"(not installed: it has no ClusterManagementAddOn on this hub)"

func TestUpgrades(t *testing.T) {
	marked := []metav1.Condition{since("Upgradable", metav1.ConditionTrue, gate.ReasonNothingWaits, gate.NothingWaits.Message)}
	for name, test := range map[string]struct {
		state  upgradable
		want   string // prefix of the condition, or empty without one
		writes int
	}{
		"Marked":       {upgradable{declares: upgradesOrdered, wants: "v1", runs: "v1"}, "True NothingWaits", 1},
		"IsMarked":     {upgradable{declares: upgradesOrdered, wants: "v1", runs: "v1", stored: marked}, "True NothingWaits", 0},
		"NotInstalled": {upgradable{declares: upgradesOrdered, wants: "v1"}, "", 0},
		"Installing":   {upgradable{declares: upgradesOrdered, wants: "v1", desires: "v1"}, "", 0},
		"NotOrdered":   {upgradable{declares: "{ordering: Install}", wants: "v1", runs: "v1"}, "", 0},
		"Waits": {
			upgradable{declares: upgradesOrdered, wants: "v2", runs: "v1", stored: upgradeWaits(missing)},
			"False WaitingForDependencies " + missing, 0,
		},
		"ForSomethingElse": {
			upgradable{declares: upgradesOrdered, wants: "v2", runs: "v1", stored: upgradeWaits("AddOnTemplate 'v2' (version 2.0.0) waits: x")},
			"False WaitingForDependencies " + missing, 1,
		},
		"Opens": {
			upgradable{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, stored: upgradeWaits(missing)},
			"True RequiredDependenciesSatisfied All that AddOnTemplate 'v2' (version 2.0.0) requires", 1,
		},
		"Lost": {
			upgradable{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, lost: true, stored: upgradeWaits(missing)},
			"False Waiting", 0,
		},
		"OrderedNoMore": {
			upgradable{declares: "{ordering: Install}", wants: "v2", runs: "v1", stored: upgradeWaits(missing)},
			"True GateOpened The add-on does not declare", 1,
		},
		"RolledOut": {
			upgradable{declares: upgradesOrdered, wants: "v2", desires: "v2", stored: upgradeWaits(missing)},
			"True GateOpened AddOnTemplate 'v2' (version 2.0.0) is rolled out", 1,
		},
		"IsThere": {
			upgradable{declares: upgradesOrdered, wants: "v2", runs: "v2", stored: upgradeWaits(missing)},
			"True GateOpened AddOnTemplate 'v2' (version 2.0.0) is rolled out", 1,
		},
		"TakenBack": {
			upgradable{declares: upgradesOrdered, wants: "v1", runs: "v1", stored: upgradeWaits(missing)},
			"True GateOpened AddOnTemplate 'v2' (version 2.0.0) is not to be", 1,
		},
		"CatalogIsBehind": {
			upgradable{declares: upgradesOrdered, wants: "v1", live: "v2", runs: "v1", stored: upgradeWaits(missing)}, "False Waiting", 0,
		},
		"CatalogIsBehindATemplate": {
			upgradable{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, edited: true, stored: upgradeWaits(missing)},
			"False Waiting", 0,
		},
		"Deleted": {
			upgradable{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, deleted: true, stored: upgradeWaits(missing)},
			"False WaitingForDependencies AddOnTemplate 'v2' waits: it does not exist", 1,
		},
		"DeletedAsTheCatalogKnows": {
			upgradable{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, forgotten: true, stored: upgradeWaits(missing)},
			"False WaitingForDependencies AddOnTemplate 'v2' waits: it does not exist", 1,
		},
		"OnlyForItself": {
			upgradable{declares: upgradesOrdered, wants: "v1", own: "v2", runs: "v1", stored: upgradeWaits(missing)}, "False Waiting", 0,
		},
		"NotForItself": {
			upgradable{declares: upgradesOrdered, wants: "v2", own: "v1", runs: "v1", stored: upgradeWaits(missing)}, "True GateOpened", 1,
		},
		"CannotBeUsed": {
			upgradable{
				declares: "{ordering: InstallAndUpgrade, dependencies: [{name: b, version: x}]}", wants: "v2", runs: "v1",
				stored: upgradeWaits(missing),
			},
			"False Waiting", 0,
		},
		"AnotherMessage": {
			upgradable{declares: upgradesOrdered, wants: "v2", runs: "v1", stored: upgradeWaits("Mine")},
			"False WaitingForDependencies " + missing, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			hub := newUpgradable(t, test.state)
			got := ""
			if c := fleet.Upgradable(hub.settle(t)); c != nil {
				got = string(c.Status) + " " + c.Reason + " " + c.Message
			}
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" || len(hub.writes) != test.writes {
				t.Errorf("%q, %d writes", got, len(hub.writes))
			}
		})
	}
}

// newSatisfied returns a hub where v2 waits and its dependency is satisfied.
func newSatisfied(t *testing.T) *lifecycleHub {
	t.Helper()
	return newUpgradable(t, upgradable{declares: upgradesOrdered, wants: "v2", runs: "v1", base: true, stored: upgradeWaits(missing)})
}

func TestFaultsAtUpgrades(t *testing.T) {
	faults(t, "conditions", "write Upgradable=True/RequiredDependenciesSatisfied of cluster1/leaf", newSatisfied,
		func(leaf *addonv1alpha1.ManagedClusterAddOn) bool {
			upgradable := fleet.Upgradable(leaf)
			return upgradable != nil && upgradable.Status == metav1.ConditionTrue
		})
}

// If admission lets the template wait again and again, its wait is ended at growing intervals.
func TestAdmissionIsNotFought(t *testing.T) {
	newSatisfied(t).insist(t, upgradeWaits(missing)...)
}
