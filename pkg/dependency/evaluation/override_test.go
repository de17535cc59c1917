package evaluation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// policies are AddOnDependencyPolicies p0, p1 … with these specs.
func policies(t *testing.T, specs ...string) policy.Set {
	t.Helper()
	list := make([]dependencyv1alpha1.AddOnDependencyPolicy, 0, len(specs))
	for i, spec := range specs {
		list = append(list, fixture.Policy(t, fmt.Sprintf("p%d", i), spec))
	}
	return policy.Read(list)
}

// overriding is a policy that overrides one edge of x.
func overriding(edge, rest string) string {
	return fmt.Sprintf("overrides: [{addOn: x, dependency: %q, %s}]", edge, rest)
}

func TestOverrides(t *testing.T) {
	start := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	const (
		onA      = `dependencies: [{name: a}]`
		edge     = "clusterSelector: {matchLabels: {tier: edge}}\n"
		waive    = `waive: {reason: mirrored by hand, until: "2026-08-02T10:00:00Z"}`
		byP0     = "; overridden by AddOnDependencyPolicy 'p0')"
		missing  = "Required addon 'a' is not installed or not available. (not installed)"
		optional = "Optional addon 'a' is not installed or not available. (not installed" + byP0
		old      = "Required addon 'a' is not installed or not available in version '>= 2'. (version 1.0.0 from its ManagedClusterAddOn" + byP0
	)
	cluster1 := evaluation.Cluster{Now: start}
	onEdge := evaluation.Cluster{Now: start, Labels: map[string]string{"tier": "edge"}}
	v1 := map[string]evaluation.Observation{"a": running("1.0.0")}
	for name, tc := range map[string]struct {
		ruleCase
		policies []string // specs of AddOnDependencyPolicies p0, p1 …
	}{
		"Type": {
			ruleCase{reason: "an administrator makes it Optional", spec: onA, cluster: cluster1, want: "a=NotInstalled", message: optional},
			[]string{overriding("a", "type: Optional")},
		},
		"Elsewhere": {
			ruleCase{reason: "the policy is for other clusters", spec: onA, cluster: cluster1, want: "a=NotInstalled", message: missing},
			[]string{edge + overriding("a", "type: Optional")},
		},
		"Selected": {
			ruleCase{reason: "and for this one", spec: onA, cluster: onEdge, want: "a=NotInstalled", message: optional},
			[]string{edge + overriding("a", "type: Optional")},
		},
		"OtherEdge": {
			ruleCase{
				reason:  "the name is that of the edge",
				spec:    `dependencies: [{name: b, addOn: a}]`,
				cluster: cluster1,
				want:    "b=NotInstalled",
				message: missing,
			},
			[]string{overriding("a", "type: Optional")},
		},
		"Alias": {
			ruleCase{
				reason:  "not that of the add-on",
				spec:    `dependencies: [{name: b, addOn: a}]`,
				cluster: cluster1,
				want:    "b=NotInstalled",
				message: optional,
			},
			[]string{overriding("b", "type: Optional")},
		},
		"Stricter": {
			ruleCase{
				reason:  "it may be stricter than the author",
				spec:    `dependencies: [{name: a, type: Optional}]`,
				cluster: cluster1,
				want:    "a=NotInstalled",
				message: "Required addon 'a' is not installed or not available. (not installed" + byP0,
			},
			[]string{overriding("a", "type: Required")},
		},
		"Version": {
			ruleCase{reason: "a range where none is declared", spec: onA, cluster: cluster1, addOns: v1, want: "a=VersionMismatch", message: old},
			[]string{overriding("a", `version: ">= 2"`)},
		},
		"Looser": {
			ruleCase{
				reason:  "another range than declared",
				spec:    `dependencies: [{name: a, version: ">= 2"}]`,
				cluster: cluster1,
				addOns:  v1,
				want:    "a=Satisfied",
			},
			[]string{overriding("a", `version: ">= 0.9"`)},
		},
		"Any": {
			ruleCase{
				reason:  "any version, known or not",
				spec:    `dependencies: [{name: a, version: ">= 2"}]`,
				cluster: cluster1,
				addOns:  map[string]evaluation.Observation{"a": running("")},
				want:    "a=Satisfied",
			},
			[]string{overriding("a", `version: "*"`)},
		},
		"Prereleases": {ruleCase{
			reason: "which prereleases match stays the author's word", spec: `dependencies: [{name: a, version: ">= 3", prereleases: {}}]`,
			cluster: cluster1, addOns: map[string]evaluation.Observation{"a": running("2.0.0-rc.1")}, want: "a=Satisfied",
		}, []string{overriding("a", `version: ">= 1"`)}},
		"TwoRanges": {ruleCase{
			reason: "both must match", spec: onA, cluster: cluster1, addOns: v1, want: "a=VersionMismatch",
			message: "Required addon 'a' is not installed or not available in version '>= 0.9 and >= 2'. " +
				"(version 1.0.0 from its ManagedClusterAddOn; overridden by AddOnDependencyPolicies 'p0', 'p1')",
		}, []string{overriding("a", `version: ">= 0.9"`), overriding("a", `version: ">= 2"`)}},
		"TwoRangesMatch": {ruleCase{
			reason: "and do", spec: onA, cluster: cluster1, addOns: v1, want: "a=Satisfied",
		}, []string{overriding("a", `version: ">= 0.9"`), overriding("a", `version: "< 2 || 7"`)}},
		"Waived": {ruleCase{reason: "whatever is true", spec: onA, cluster: cluster1, want: "a=Waived"}, []string{overriding("a", waive)}},
		"WaivedAndThere": {
			ruleCase{reason: "the verdict does not depend on it", spec: onA, cluster: cluster1, addOns: v1, want: "a=Waived"},
			[]string{overriding("a", waive)},
		},
		"WaiverOver": {
			ruleCase{
				reason:  "exactly at its end",
				spec:    onA,
				cluster: evaluation.Cluster{Now: start.Add(24 * time.Hour)},
				want:    "a=NotInstalled",
				message: missing,
			},
			[]string{overriding("a", waive)},
		},
		"WaiverBefore": {
			ruleCase{reason: "and not before", spec: onA, cluster: evaluation.Cluster{Now: start.Add(24*time.Hour - 1)}, want: "a=Waived"},
			[]string{overriding("a", waive)},
		},
		"WaivedConflict": {
			ruleCase{
				reason:  "that it is not installed is what a conflict wants",
				spec:    `dependencies: [{name: a, type: Conflicts}]`,
				cluster: cluster1,
				addOns:  v1,
				want:    "a=Waived",
			},
			[]string{overriding("a", waive)},
		},
		"ConflictStays": {ruleCase{
			reason: "a conflict has no other type", spec: `dependencies: [{name: a, type: Conflicts}]`, cluster: cluster1, addOns: v1,
			want: "a=Conflict", message: "Addon 'a' is installed, which conflicts with this addon. (installed)",
		}, []string{overriding("a", `type: Optional, version: ">= 2"`)}},
		"WaivedRequirement": {
			ruleCase{
				reason:  "the platform too",
				spec:    `requirements: {kubernetes: ">= 1.30"}`,
				cluster: evaluation.Cluster{Now: start, KubernetesVersion: "v1.28.0"},
				want:    "requirements.kubernetes=Waived",
			},
			[]string{overriding("requirements.kubernetes", waive)},
		},
		"RequirementStays": {ruleCase{
			reason: "which has no type", spec: `requirements: {kubernetes: ">= 1.30"}`,
			cluster: evaluation.Cluster{Now: start, KubernetesVersion: "v1.28.0"},
			want:    "requirements.kubernetes=RequirementNotMet", message: "Required Kubernetes version '>= 1.30' is not met. (it is v1.28.0)",
		}, []string{overriding("requirements.kubernetes", "type: Optional")}},
		"NotApplicable": {
			ruleCase{
				reason:  "nothing is waived that does not apply",
				spec:    `dependencies: [{name: a, when: {expression: "false"}}]`,
				cluster: cluster1,
				want:    "a=NotApplicable",
			},
			[]string{overriding("a", waive)},
		},
		"AnotherKindOfWord": {
			ruleCase{
				reason:  "what has no effect does not end a waiver",
				spec:    `requirements: {kubernetes: ">= 1.30"}`,
				cluster: evaluation.Cluster{Now: start, KubernetesVersion: "v1.28.0"},
				want:    "requirements.kubernetes=Waived",
			},
			[]string{overriding("requirements.kubernetes", waive), overriding("requirements.kubernetes", "type: Optional")},
		},
		"IfInstalledWithoutARange": {
			ruleCase{reason: "that would be a waiver without an end", spec: onA, cluster: cluster1, want: "a=NotInstalled", message: missing},
			[]string{overriding("a", "type: IfInstalled")},
		},
		"IfInstalledWithOne": {
			ruleCase{reason: "only a version that is there counts", spec: onA, cluster: cluster1, want: "a=Satisfied"},
			[]string{overriding("a", `type: IfInstalled, version: ">= 1"`)},
		},
		"Invalid": {
			ruleCase{reason: "it is not known what the administrator wants", spec: onA, cluster: cluster1, want: "a=Held"},
			[]string{overriding("a", `version: newest`)},
		},
		"InvalidElsewhere": {
			ruleCase{reason: "but here it is", spec: onA, cluster: cluster1, want: "a=NotInstalled", message: missing},
			[]string{edge + overriding("a", `version: newest`)},
		},
		"Lost": {ruleCase{
			reason: "what is lost is held", spec: onA, cluster: evaluation.Cluster{
				Now:       start,
				Available: metav1.ConditionUnknown,
				Offline:   evaluation.OfflineHold,
			}, want: "a=Held",
		}, []string{overriding("a", waive)}},
		"WaivedCycle": {
			ruleCase{
				reason: "a waived edge is not waited for", spec: onA, others: fixture.Registrations("a: x"), cluster: cluster1,
				want: "a=Waived",
			},
			[]string{overriding("a", waive)},
		},
		"OpenedCycle": {
			ruleCase{
				reason:  "nor an Optional one",
				spec:    onA,
				others:  fixture.Registrations("a: x"),
				cluster: onEdge,
				addOns:  v1,
				want:    "a=Satisfied",
			},
			[]string{edge + overriding("a", "type: Optional")},
		},
		"ByTheOther": {
			ruleCase{
				reason:  "nor that of another",
				spec:    onA,
				others:  fixture.Registrations("a: x"),
				cluster: cluster1,
				addOns:  v1,
				want:    "a=Satisfied",
			},
			[]string{"overrides: [{addOn: a, dependency: x, type: Optional}]"},
		},
		"ClosedCycle": {
			ruleCase{
				reason:  "where the policy does not count, it stays closed",
				spec:    onA,
				others:  fixture.Registrations("a: x"),
				cluster: cluster1,
				addOns:  v1,
				want:    "a=Cycle",
				message: "Required addon 'a' is not installed or not available. (dependency cycle: a → x → a)",
			},
			[]string{edge + overriding("a", "type: Optional")},
		},
		"MadeCycle": {
			ruleCase{
				reason:  "a policy can close one",
				spec:    `dependencies: [{name: a, type: Optional}]`,
				others:  fixture.Registrations("a: x"),
				cluster: cluster1,
				addOns:  v1,
				want:    "a=Cycle",
				message: "Required addon 'a' is not installed or not available. (dependency cycle: a → x → a" + byP0,
			},
			[]string{overriding("a", "type: Required")},
		},
	} {
		t.Run(name, func(t *testing.T) { tc.withPolicies(t, policies(t, tc.policies...)) })
	}
}

func TestInputsOfOverrides(t *testing.T) {
	const edge = "clusterSelector: {matchLabels: {tier: edge}}\n"
	for name, test := range map[string]struct {
		spec, policy string
		inputs       input.Set
		ofA          input.Set
		requests     []string
	}{
		"everywhere":   {"dependencies: [{name: a}]", overriding("a", "type: Optional"), 0, 0, nil},
		"selected":     {"dependencies: [{name: a}]", edge + overriding("a", "type: Optional"), input.Labels, 0, nil},
		"another edge": {"dependencies: [{name: a}]", edge + overriding("b", "type: Optional"), 0, 0, nil},
		"a version": {
			"dependencies: [{name: a}]",
			overriding("a", `version: ">= 1"`),
			input.Versions | input.Facts,
			input.Versions,
			[]string{"a"},
		},
		"any version": {"dependencies: [{name: a}]", overriding("a", `version: "*"`), 0, 0, nil},
		"a requirement": {
			"requirements: {kubernetes: '*'}",
			edge + overriding("requirements.kubernetes", `waive: {reason: x, until: "2026-08-02T10:00:00Z"}`),
			input.Kubernetes | input.Labels,
			0,
			nil,
		},
		"of an API, none":   {"dependencies: [{name: a, api: {kind: Pod}}]", overriding("a", `version: ">= 1"`), input.Facts, 0, nil},
		"no more of others": {"dependencies: [{name: a, type: Conflicts}]", overriding("a", `version: ">= 1"`), 0, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := evaluation.New(
				catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", test.spec)}).
					WithPolicies(policies(t, test.policy)),
			)
			if got := e.Inputs("x"); got != test.inputs {
				t.Errorf("reads %b, want %b", got, test.inputs)
			}
			for _, need := range e.Needs("x") {
				if need.Inputs != test.ofA {
					t.Errorf("reads %b of %s, want %b", need.Inputs, need.Name, test.ofA)
				}
			}
			if diff := cmp.Diff(test.requests, e.Requests("x").AddOns); diff != "" {
				t.Errorf("requests -want, +got: %s", diff)
			}
		})
	}
}

// A waiver ends at its time, and its message has that time.
func TestWaiverSaysItsEnd(t *testing.T) {
	end := time.Date(2026, 8, 2, 10, 0, 0, 0, time.UTC)
	e := evaluation.New(
		catalog.New(fixture.Registrations("x: a, a")).
			WithPolicies(policies(t, overriding("a", `waive: {reason: "mirrored\nby hand", until: "2026-08-02T10:00:00Z"}`))),
	)
	findings := e.Evaluate("x", evaluation.State{Cluster: evaluation.Cluster{Now: end.Add(-time.Hour)}})
	if got := evaluation.HeldUntil(findings); !got.Equal(end) {
		t.Errorf("evaluated again at %s", got)
	}
	if diff := cmp.Diff(
		"waived until 2026-08-02T10:00:00Z by AddOnDependencyPolicy 'p0': mirrored by hand",
		findings[0].Reason(),
	); diff != "" {
		t.Error(diff)
	}
	if got := findings[0].Detail.Policies; !cmp.Equal(got, []string{"p0"}) || findings[0].Unsatisfied() {
		t.Errorf("%+v", findings[0])
	}
}

// A held edge has its effective type. A dependency that only a policy makes Required keeps the condition on a lost
// cluster, and if another policy is unusable.
func TestHeldEdgesHaveTheirEffectiveType(t *testing.T) {
	stored := fixture.Degraded(metav1.ConditionTrue, requiredReason, "Required addon 'a' is not installed or not available. (not installed)")
	declared := catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "x", `dependencies: [{name: a, type: Optional}]`), fixture.Registration("a"),
	})
	lost := evaluation.Cluster{Now: fixture.Now.Time, Available: metav1.ConditionUnknown, Offline: evaluation.OfflineHold}
	for name, test := range map[string]struct {
		cluster  evaluation.Cluster
		policies []string
	}{
		"on a lost cluster": {lost, []string{overriding("a", "type: Required")}},
		"by another policy": {
			evaluation.Cluster{Now: fixture.Now.Time},
			[]string{overriding("a", "type: Required"), overriding("a", "version: newest")},
		},
		"by the only one": {evaluation.Cluster{Now: fixture.Now.Time}, []string{overriding("a", "version: newest")}},
	} {
		findings := evaluation.New(declared.WithPolicies(policies(t, test.policies...))).Evaluate("x", evaluation.State{Cluster: test.cluster})
		if len(findings) != 1 || !findings[0].Held() || !findings[0].Blocks() {
			t.Errorf("%s: %+v", name, findings)
		}
		if written := condition.Decide(condition.Stored{Degraded: stored}, findings, fixture.Now).Degraded; written != nil {
			t.Errorf("%s: writes %s, %s", name, written.Reason, written.Message)
		}
	}
}

// TestACycleThatAWaiverOpens: its end closes the cycle again, also for the other add-ons on it.
func TestACycleThatAWaiverOpens(t *testing.T) {
	registered := append(fixture.Registrations("a: b"), fixture.Registrations("b: a")...)
	waived := fixture.Policy(t, "p", `overrides: [{addOn: a, dependency: b, waive: {reason: x, until: "2026-08-02T10:00:00Z"}}]`)
	declared := evaluation.New(catalog.New(registered).WithPolicies(policy.Read([]dependencyv1alpha1.AddOnDependencyPolicy{waived})))
	end := time.Date(2026, 8, 2, 10, 0, 0, 0, time.UTC)
	findings := func(now time.Time) []evaluation.Finding {
		return declared.Evaluate("b", declared.State("b", evaluation.Cluster{Name: "c", Now: now}, func(name string) evaluation.Observation {
			return evaluation.Observation{Name: name, Installed: true, Available: fixture.Available(metav1.ConditionTrue, "x")}
		}))
	}
	open := findings(end.Add(-time.Hour))
	if open[0].Verdict != evaluation.Satisfied || !evaluation.HeldUntil(open).Equal(end) {
		t.Errorf("got %s until %s, want Satisfied until %s", open[0].Verdict, evaluation.HeldUntil(open), end)
	}
	if closed := findings(end); closed[0].Verdict != evaluation.Cycle || !evaluation.HeldUntil(closed).IsZero() {
		t.Errorf("got %s until %s, want Cycle", closed[0].Verdict, evaluation.HeldUntil(closed))
	}
}
