package steps_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

func TestAnInstallationWaitsForWhatIsInstalled(t *testing.T) {
	for _, test := range []struct {
		name    string
		leaf    string
		addOns  string
		cluster steps.Cluster
		want    []string
	}{
		{
			name: "before what requires it", addOns: "portal", cluster: clusterWith("c1", "~tokens certs"),
			want: []string{"1: tokens<gateway waits (c1)", "2: gateway<portal (c1)", "3: portal (c1)"},
		},
		{
			name: "also below what is installed", addOns: "portal", cluster: clusterWith("c1", "~tokens certs gateway"),
			want: []string{"1: tokens<gateway waits (c1)", "2: gateway<portal waits (c1)", "3: portal (c1)"},
		},
		{
			name: "beside what is missing", addOns: "portal", cluster: clusterWith("c1", "~tokens"),
			want: []string{"1: certs<gateway (c1), tokens<gateway waits (c1)", "2: gateway<portal (c1)", "3: portal (c1)"},
		},
		{
			name: "not what is ready", addOns: "portal", cluster: clusterWith("c1", "tokens certs gateway"), want: []string{"1: portal (c1)"},
		},
		{
			name: "not what no step requires", addOns: "portal", cluster: clusterWith("c1", "~tunnel tokens certs gateway"),
			want: []string{"1: portal (c1)"},
		},
		{
			name: "not where there is nothing to install", addOns: "gateway", cluster: clusterWith("c1", "~tokens certs gateway"),
			want: []string{"c1: 'gateway' is installed already, and stays as it is"},
		},
		{
			name: "not for an alternative where another one is satisfied", addOns: "leaf",
			leaf: needing("{name: e, anyOf: [{addOn: tokens}, {addOn: certs}]}"), cluster: clusterWith("c1", "~tokens certs"),
			want: []string{"1: leaf (c1)"},
		},
		{
			name: "for a provider", addOns: "leaf", leaf: needing("{name: t, api: {kind: Tunnel}}"),
			cluster: serving(clusterWith("c1", "~provider"), "False"),
			want:    []string{"1: provider<leaf waits (c1)", "2: leaf (c1)"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			addOns := hub{"leaf": test.leaf, "provider": "{provides: [{kind: Tunnel}]}"}
			for name, spec := range stack {
				addOns[name] = spec
			}
			wanted := steps.Installation{AddOns: strings.Fields(test.addOns), Wait: true}
			plan := steps.Install(addOns.evaluator(t), wanted, []steps.Cluster{test.cluster})
			if diff := cmp.Diff(test.want, linesOf(plan)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestARemovalContinues(t *testing.T) {
	for _, test := range []struct {
		name    string
		addOns  string
		keep    bool
		cluster steps.Cluster
		// waits is the plan with --wait, and atOnce the plan without it.
		waits, atOnce []string
	}{
		{
			name: "with the unit of what is being removed", addOns: "portal", cluster: clusterWith("c1", "-portal gateway! tokens! certs!"),
			waits: []string{
				"1: portal waits (c1)", "2: gateway<portal (c1)", "3: certs<gateway (c1), tokens<gateway (c1)",
				"c1: 'portal' is being removed already",
			},
			atOnce: []string{
				"1: gateway<portal (c1)", "2: certs<gateway (c1), tokens<gateway (c1)", "c1: 'portal' is being removed already",
			},
		},
		{
			name: "below a unit that is being removed", addOns: "portal", cluster: clusterWith("c1", "-portal -gateway! tokens! certs"),
			waits: []string{
				"1: portal waits (c1)", "2: gateway<portal waits (c1)", "3: tokens<gateway (c1)", "c1: 'portal' is being removed already",
			},
			atOnce: []string{"1: tokens<gateway (c1)", "c1: 'portal' is being removed already"},
		},
		{
			name: "without what another add-on needs", addOns: "portal", cluster: clusterWith("c1", "-portal gateway tokens! certs!"),
			waits:  []string{"1: portal waits (c1)", "c1: 'portal' is being removed already"},
			atOnce: []string{"c1: 'portal' is being removed already"},
		},
		{
			name: "not with the unit, without --cascade=unit", addOns: "portal", keep: true,
			cluster: clusterWith("c1", "-portal gateway! tokens! certs!"),
			waits:   []string{"1: portal waits (c1)", "c1: 'portal' is being removed already"},
			atOnce:  []string{"c1: 'portal' is being removed already"},
		},
		{
			name: "by name, after what is being removed", addOns: "gateway tokens", keep: true,
			cluster: clusterWith("c1", "-portal gateway tokens certs"),
			waits:   []string{"1: portal waits (c1)", "2: gateway (c1)", "3: tokens (c1)"},
			atOnce:  []string{"1: gateway (c1)", "2: tokens (c1)"},
		},
		{
			name: "and what stays still counts", addOns: "tokens", keep: true, cluster: clusterWith("c1", "gateway -tokens certs"),
			waits:  []string{"1: tokens waits (c1)", "c1: 'tokens' is being removed already"},
			atOnce: []string{"c1: 'tokens' is being removed already"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for wait, want := range map[bool][]string{true: test.waits, false: test.atOnce} {
				wanted := steps.Removal{AddOns: strings.Fields(test.addOns), Unit: !test.keep, Wait: wait}
				plan := steps.Remove(stack.evaluator(t), wanted, []steps.Cluster{test.cluster})
				if diff := cmp.Diff(want, linesOf(plan)); diff != "" {
					t.Errorf("wait %v: -want, +got:\n%s", wait, diff)
				}
			}
		})
	}
}

// TestInstalledAddOnsThatAreAwaited tests that a plan which does not wait names the installed add-ons that keep its steps waiting.
func TestInstalledAddOnsThatAreAwaited(t *testing.T) {
	addOns := hub{"leaf": needing("{name: mid}"), "mid": needing("{name: base}, {name: other, type: Optional}"), "base": "{}", "other": "{}"}
	addOns["ordered"] = "{ordering: Install, dependencies: [{name: base}]}"
	const awaits = "'mid' will not work until an installed add-on does: Required addon 'base' is not installed or not available. " +
		"(Available=False, Down, since 2026-08-01T10:00:00Z)"
	for _, test := range []struct {
		name, addOn, installed string
		wait                   bool
		want                   []string
	}{
		{name: "nothing is installed"},
		{name: "all below is", installed: "base other"},
		{name: "one is down", installed: "~base other", want: []string{awaits}},
		{name: "one is down, and has a step", installed: "~base other", wait: true},
		{name: "an Optional one is down", installed: "base ~other"},
		{name: "one that is being removed", installed: "-base"},
		{
			name: "one is down, and the order is declared", addOn: "ordered", installed: "~base",
			want: []string{"'ordered' waits for an installed add-on: Required addon 'base' is not installed or not available. " +
				"(Available=False, Down, since 2026-08-01T10:00:00Z)"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			addOn := test.addOn
			if addOn == "" {
				addOn = "leaf"
			}
			request := steps.Installation{AddOns: []string{addOn}, Wait: test.wait}
			plan := steps.Install(addOns.evaluator(t), request, []steps.Cluster{clusterWith("c1", test.installed)})
			var got []string
			for _, finding := range plan.Findings {
				got = append(got, finding.Text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// A list for GitOps has each add-on in the same place before it is installed and afterwards.
func TestWhatIsInstalledIsListedAgain(t *testing.T) {
	addOns := hub{"leaf": needing("{name: mid}"), "mid": needing("{name: base}"), "base": "{}", "other": "{}"}
	for _, test := range []struct{ installed, listed, want string }{
		{"", "", "base mid leaf"},
		{"base", "base", "base* mid leaf"},
		{"base mid leaf other", "base mid leaf other", "base* mid* leaf*"},
		{"base mid leaf", "mid", "mid*"},
		{"base", "", "mid leaf"},
	} {
		cluster := clusterWith("c1", test.installed)
		cluster.Again = sets.New(strings.Fields(test.listed)...)
		plan := steps.Install(addOns.evaluator(t), steps.Installation{AddOns: []string{"leaf"}}, []steps.Cluster{cluster})
		var got []string
		for _, layer := range plan.Layers {
			for _, step := range layer {
				if step.Exists {
					step.AddOn += "*"
				}
				if step.Exists == step.ByPlugin() {
					t.Errorf("%+v", step)
				}
				got = append(got, step.AddOn)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q, and %q again: %q", test.installed, test.listed, got)
		}
	}
}
