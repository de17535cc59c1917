package evaluation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

const (
	proxyOrAPI = `
dependencies:
- name: tunnel
  message: Clusters behind a firewall are unreachable.
  anyOf: [{addOn: proxy, version: ">= 0.9"}, {addOn: submariner}, {api: {group: example.io, kind: Tunnel}}]`

	noneOfThree = "Required: one of addon 'proxy' in version '>= 0.9', addon 'submariner' or API 'Tunnel.example.io'; none is available. " +
		"Clusters behind a firewall are unreachable. "
)

var tunnelAPI = addonv1alpha1.AddonAPI{Group: "example.io", Kind: "Tunnel"}

// tunnels is a cluster on which the API of a tunnel is served, or not.
func tunnels(served metav1.ConditionStatus) evaluation.Cluster {
	return evaluation.Cluster{
		Available: metav1.ConditionTrue, Offline: evaluation.OfflineHold, Now: fixture.Now.Time,
		Facts: evaluation.Facts{APIs: evaluation.APIFacts{tunnelAPI: {Served: served}}},
	}
}

const anyOnHub = "dependencies: [{name: t, anyOf: [{addOn: a}, {api: {group: example.io, kind: Tunnel, servedBy: Hub}}]}]"

// onHub is a cluster that serves the API of a tunnel, with a hub that does, or not.
func onHub(served metav1.ConditionStatus) evaluation.Cluster {
	cluster := tunnels(metav1.ConditionTrue)
	cluster.HubAPIs = evaluation.APIFacts{tunnelAPI: {Served: served}}
	return cluster
}

func TestAnyOf(t *testing.T) {
	unserved, served := tunnels(metav1.ConditionFalse), tunnels(metav1.ConditionTrue)
	stopped := running("")
	stopped.Available = fixture.Available(metav1.ConditionFalse, "Stopped")
	degraded := running("")
	degraded.Degraded = fixture.Degraded(metav1.ConditionTrue, requiredReason, "")
	lost := running("")
	lost.Available, lost.LossObserved = fixture.Available(metav1.ConditionUnknown, "ManagedClusterLeaseUpdateStopped"), fixture.Now.Time
	awaited := unserved
	awaited.Facts = evaluation.Facts{Requested: fixture.Now.Time}
	observe := func(name string, observed evaluation.Observation) map[string]evaluation.Observation {
		return map[string]evaluation.Observation{name: observed}
	}
	and := func(
		observations map[string]evaluation.Observation, name string, observed evaluation.Observation,
	) map[string]evaluation.Observation {
		observations[name] = observed
		return observations
	}
	const notServed = "; Tunnel.example.io: not served)"
	for name, tc := range map[string]ruleCase{
		"First": {
			reason: "the first is available", spec: proxyOrAPI, cluster: unserved, addOns: observe("proxy", running("1.0.0")),
			want: "tunnel=Satisfied",
		},
		"Second": {
			reason: "the second is", spec: proxyOrAPI, cluster: unserved, addOns: observe("submariner", running("")),
			want: "tunnel=Satisfied",
		},
		"API": {reason: "the API is served", spec: proxyOrAPI, cluster: served, want: "tunnel=Satisfied"},
		"OtherBroken": {
			reason: "it does not matter what is true of the others", spec: proxyOrAPI, cluster: unserved,
			addOns: and(observe("proxy", running("0.1.0")), "submariner", running("")), want: "tunnel=Satisfied",
		},
		"None": {
			reason: "none is there", spec: proxyOrAPI, cluster: unserved, want: "tunnel=NoAlternative",
			message: noneOfThree + "(proxy: not installed; submariner: not installed" + notServed,
		},
		"Version": {
			reason: "each has its own finding", spec: proxyOrAPI, cluster: unserved,
			addOns: and(observe("proxy", running("0.1.0")), "submariner", stopped),
			want:   "tunnel=NoAlternative",
			message: noneOfThree + "(proxy: version 0.1.0 from its ManagedClusterAddOn; " +
				"submariner: Available=False, Stopped, since 2026-08-01T10:00:00Z" + notServed,
		},
		"Chain": {
			reason: "an alternative whose own dependency fails is not available", spec: proxyOrAPI, cluster: unserved,
			addOns:  observe("submariner", degraded),
			want:    "tunnel=NoAlternative",
			message: noneOfThree + "(proxy: not installed; submariner: a Required dependency of its own is not satisfied" + notServed,
		},
		"Held": {
			reason: "one may come back", spec: proxyOrAPI, cluster: unserved, addOns: observe("submariner", lost), want: "tunnel=Held",
		},
		"HeldBesideSatisfied": {
			reason: "what is held does not matter beside one that is satisfied", spec: proxyOrAPI, cluster: unserved,
			addOns: and(observe("proxy", running("1.0.0")), "submariner", lost), want: "tunnel=Satisfied",
		},
		"OnHub": {reason: "the hub serves it", spec: anyOnHub, cluster: onHub(metav1.ConditionTrue), want: "t=Satisfied"},
		"NotOnHub": {
			reason: "that the managed cluster serves it does not count", spec: anyOnHub, cluster: onHub(metav1.ConditionFalse),
			want: "t=NoAlternative",
			message: "Required: one of addon 'a' or API 'Tunnel.example.io' on the hub; none is available. " +
				"(a: not installed; Tunnel.example.io on the hub: not served)",
		},
		"HubUnknown": {reason: "discovery may still find it", spec: anyOnHub, cluster: served, want: "t=Held"},
		"OnHost": {
			reason: "without hosted mode, the managed cluster serves it", cluster: served, want: "t=Satisfied",
			spec: "dependencies: [{name: t, anyOf: [{addOn: a}, {api: {group: example.io, kind: Tunnel, servedBy: HostingCluster}}]}]",
		},
		"Awaited": {reason: "the agent may still report the API", spec: proxyOrAPI, cluster: awaited, want: "tunnel=Held"},
		"Optional": {
			reason: "an Optional edge", spec: "dependencies: [{name: tunnel, type: Optional, anyOf: [{addOn: a}, {addOn: b}]}]", cluster: unserved,
			want:    "tunnel=NoAlternative",
			message: "Optional: one of addon 'a' or addon 'b'; none is available. (a: not installed; b: not installed)",
		},
		"NotApplicable": {
			reason: "when comes first", spec: `dependencies: [{name: tunnel, when: {expression: "false"}, anyOf: [{addOn: a}, {addOn: b}]}]`,
			cluster: unserved, want: "tunnel=NotApplicable",
		},
		"SameAddOn": {
			reason: "two ranges of one add-on", spec: `dependencies: [{name: t, anyOf: [{addOn: a, version: "^1"}, {addOn: a, version: "^3"}]}]`,
			cluster: unserved, addOns: observe("a", running("3.1.0")), want: "t=Satisfied",
		},
		"Fields": {
			reason: "an API without a field is none", cluster: served,
			spec: `dependencies: [{name: t, anyOf: [{addOn: a}, {api: {group: example.io, kind: Tunnel, fields: [spec.mode]}}]}]`,
			want: "t=NoAlternative",
			message: "Required: one of addon 'a' or API 'Tunnel.example.io'; none is available. (a: not installed; " +
				"Tunnel.example.io: served, but its fields are not known: the managed cluster's addon-agent has not reported it)",
		},
		"Itself": {
			reason: "an add-on cannot wait for itself", spec: "dependencies: [{name: t, anyOf: [{addOn: x}, {addOn: b}]}]", cluster: unserved,
			addOns: observe("x", running("")), want: "t=NoAlternative",
			message: "Required: one of addon 'x' or addon 'b'; none is available. (x: waits for 'x' itself: x → x; b: not installed)",
		},
		"Circular": {
			reason: "an alternative that waits for the dependent never satisfies it",
			spec:   "dependencies: [{name: t, anyOf: [{addOn: a}, {addOn: b}]}]",
			others: fixture.Registrations("a: y, y: x"), cluster: unserved, addOns: observe("a", running("")), want: "t=NoAlternative",
			message: "Required: one of addon 'a' or addon 'b'; none is available. (a: waits for 'x' itself: x → a → y → x; b: not installed)",
		},
		"CircularBesideSatisfied": {
			reason: "and another one does", spec: "dependencies: [{name: t, anyOf: [{addOn: a}, {addOn: b}]}]",
			others: fixture.Registrations("a: x"), cluster: unserved, addOns: observe("b", running("")), want: "t=Satisfied",
		},
		"OptionalCircular": {
			reason: "what is Optional waits for nothing", spec: "dependencies: [{name: t, type: Optional, anyOf: [{addOn: a}, {addOn: b}]}]",
			others: fixture.Registrations("a: x"), cluster: unserved, addOns: observe("a", running("")), want: "t=Satisfied",
		},
		"WaitsOptionally": {
			reason: "nor does an alternative by an Optional edge", spec: "dependencies: [{name: t, anyOf: [{addOn: a}, {addOn: b}]}]",
			others: fixture.Registrations("a: x?"), cluster: unserved, addOns: observe("a", running("")), want: "t=Satisfied",
		},
		"ElsewhereCircular": {
			reason: "the edge back does not apply here", spec: "dependencies: [{name: t, anyOf: [{addOn: a}, {addOn: b}]}]",
			others: fixture.Conditional("a: x!private"), cluster: unserved, addOns: observe("a", running("")), want: "t=Satisfied",
		},
	} {
		t.Run(name, tc.run)
	}
}

// Where every alternative waits for the dependent, the edge is on a cycle. It is a problem of the declaration too.
func TestEveryAlternativeIsCircular(t *testing.T) {
	x := fixture.Specified(t, "x", "dependencies: [{name: t, anyOf: [{addOn: a}, {addOn: b}]}]")
	e := evaluator(append(fixture.Registrations("a: x, b: a"), x))
	up := func(string) evaluation.Observation { return running("") }
	findings := e.Evaluate("x", e.State("x", tunnels(metav1.ConditionFalse), up))
	if got := verdicts(findings); got != "t=Cycle" {
		t.Fatalf("got %s", got)
	}
	if diff := cmp.Diff([]string{"a", "x", "a"}, findings[0].Cycle); diff != "" {
		t.Error(diff)
	}
	if got, want := findings[0].Reason(), "a: waits for 'x' itself: x → a → x; b: waits for 'x' itself: x → b → a → x"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	problems := e.Problems("x")
	if len(problems) != 1 || !strings.Contains(problems[0].Message, `each alternative of "t" waits for the add-on itself`) ||
		problems[0].Field != "spec.dependencies[0]" {
		t.Errorf("problems %+v", problems)
	}
	if problems := e.Problems("a"); len(problems) != 0 {
		t.Errorf("a is on no cycle of Required edges: %v", problems)
	}
}

// While it is not known whether an alternative waits for the dependent, it neither satisfies the edge nor fails.
func TestWhetherAnAlternativeIsCircularIsNotKnown(t *testing.T) {
	x := fixture.Specified(t, "x", "dependencies: [{name: t, anyOf: [{addOn: a}, {addOn: b}]}]")
	a := fixture.Specified(t, "a", `dependencies: [{name: x, when: {expression: "config.?mode.orValue('') == 'x'"}}]`)
	e := evaluator(fixture.WithTargets([]addonv1alpha1.ClusterManagementAddOn{x, a}))
	for name, tc := range map[string]struct {
		reason string
		config map[string]string
		unread bool
		want   string
	}{
		"Unread":    {"its settings are not read yet", nil, true, "t=Held"},
		"Waits":     {"they say that it waits", map[string]string{"mode": "x"}, false, "t=NoAlternative"},
		"DoesNot":   {"they say that it does not", nil, false, "t=Satisfied"},
		"WaitsHeld": {"what was read before does not count", map[string]string{"mode": "x"}, true, "t=Held"},
	} {
		t.Run(name, func(t *testing.T) {
			observe := func(addOn string) evaluation.Observation {
				if addOn != "a" {
					return evaluation.Observation{}
				}
				observed := running("")
				observed.Config, observed.ConfigUnread = tc.config, tc.unread
				return observed
			}
			if got := verdicts(e.Evaluate("x", e.State("x", tunnels(metav1.ConditionFalse), observe))); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

func TestPoliciesOnAnyOf(t *testing.T) {
	const spec = "dependencies: [{name: t, anyOf: [{addOn: a}, {addOn: b}]}]"
	cluster := tunnels(metav1.ConditionFalse)
	for name, tc := range map[string]struct {
		reason, policy, want, message string
	}{
		"Type": {
			"it can be Optional", "type: Optional", "t=NoAlternative",
			"Optional: one of addon 'a' or addon 'b'; none is available. (a: not installed; b: not installed; " +
				"overridden by AddOnDependencyPolicy 'p0')",
		},
		"Waived": {"it can be waived", `waive: {reason: by hand, until: "2026-08-02T10:00:00Z"}`, "t=Waived", ""},
		"Version": {
			"a range has no effect", `version: ">= 2"`, "t=NoAlternative",
			"Required: one of addon 'a' or addon 'b'; none is available. (a: not installed; b: not installed)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			waived := cluster
			waived.Now = time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
			ruleCase{reason: tc.reason, spec: spec, cluster: waived, want: tc.want, message: tc.message}.
				withPolicies(t, policies(t, overriding("t", tc.policy)))
		})
	}
}

// The targets of alternatives are observed and requested, and their dependents are known.
func TestAlternativesAreInputs(t *testing.T) {
	x := fixture.Specified(t, "x", strings.Replace(proxyOrAPI, "kind: Tunnel", "kind: Tunnel, fields: [spec.mode]", 1))
	e := evaluator(append(fixture.Registrations("proxy:, submariner:"), x))
	if diff := cmp.Diff([]evaluation.Need{{Name: "proxy", Inputs: input.Versions}, {Name: "submariner"}}, e.Needs("x")); diff != "" {
		t.Errorf("needs:\n%s", diff)
	}
	if !e.Inputs("x").Any(input.Facts) {
		t.Error("the facts of the cluster are no input")
	}
	want := catalog.Requests{
		APIs: []addonv1alpha1.DependencyAPI{{AddonAPI: tunnelAPI, Fields: []string{"spec.mode"}}}, AddOns: []string{"proxy"},
	}
	if diff := cmp.Diff(want, e.Requests("x")); diff != "" {
		t.Errorf("requests:\n%s", diff)
	}
	for _, target := range []string{"proxy", "submariner"} {
		if diff := cmp.Diff([]string{"x"}, e.Dependents(target)); diff != "" {
			t.Errorf("dependents of %s:\n%s", target, diff)
		}
	}
}

// Of the alternatives that are held, the first moment counts at which one can change the result.
func TestAnyOfIsHeldUntilTheFirstMoment(t *testing.T) {
	x := fixture.Specified(t, "x", proxyOrAPI)
	e := evaluator(fixture.WithTargets([]addonv1alpha1.ClusterManagementAddOn{x}))
	cluster := tunnels(metav1.ConditionFalse)
	cluster.Facts = evaluation.Facts{Requested: fixture.Now.Time}
	lost := running("")
	lost.Available, lost.LossObserved = fixture.Available(metav1.ConditionUnknown, "ManagedClusterLeaseUpdateStopped"), fixture.Now.Time
	findings := e.Evaluate("x", e.State("x", cluster, func(addOn string) evaluation.Observation {
		if addOn == "submariner" {
			return lost
		}
		return evaluation.Observation{}
	}))
	if want := fixture.Now.Add(evaluation.ReportTime); verdicts(findings) != "tunnel=Held" || !findings[0].Until.Equal(want) {
		t.Errorf("got %s until %v, want %v", verdicts(findings), findings[0].Until, want)
	}
}

// The usual result allocates nothing, also where it is the last alternative that is available.
func TestASatisfiedAlternativeIsFree(t *testing.T) {
	var alternatives strings.Builder
	for i := range 256 {
		fmt.Fprintf(&alternatives, "- {name: e%d, anyOf: [{addOn: a}, {addOn: b}, {addOn: c%d}, {addOn: d}]}\n", i, i)
	}
	e := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", "dependencies:\n"+alternatives.String())})
	state := e.State("x", tunnels(metav1.ConditionFalse), func(addOn string) evaluation.Observation {
		if addOn == "d" {
			return running("")
		}
		return evaluation.Observation{}
	})
	if findings := e.Evaluate("x", state); len(findings) != 256 || findings[255].Verdict != evaluation.Satisfied {
		t.Fatalf("got %d findings", len(findings))
	}
	if allocated := testing.AllocsPerRun(20, func() { e.Evaluate("x", state) }); allocated != 0 {
		t.Errorf("allocates %v times", allocated)
	}
}
