package evaluation_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// Where an add-on is not installed, its message says why.
func TestInstalling(t *testing.T) {
	const (
		spec   = `dependencies: [{name: a}]`
		auto   = `dependencies: [{name: a, install: Auto}]`
		fails  = "Required addon 'a' is not installed or not available. "
		placed = `installStrategy: {type: Placements, placements: [{namespace: ns, name: p}]}`
	)
	registered := func(spec string) []addonv1alpha1.ClusterManagementAddOn {
		return []addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "a", spec)}
	}
	since := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	created := evaluation.Observation{Installed: true, Created: since}
	removed := evaluation.Observation{Installed: true, Created: since, Removed: since.Add(time.Hour)}
	removed.Available = fixture.Available(metav1.ConditionFalse, "Down")
	follows := removed
	follows.Degraded = fixture.Degraded(metav1.ConditionTrue, requiredReason, "")
	works := removed
	works.Available = fixture.Available(metav1.ConditionTrue, "")
	observe := func(observed evaluation.Observation) map[string]evaluation.Observation {
		return map[string]evaluation.Observation{"a": observed}
	}
	for name, tc := range map[string]ruleCase{
		"Manual": {
			reason: "OCM does not install it", spec: spec, others: registered(`installStrategy: {type: Manual}`),
			want: "a=NotInstalled", message: fails + "(not installed: its install strategy is Manual)",
		},
		"Unselected": {
			reason: "OCM installs it elsewhere", spec: spec, others: registered(placed), cluster: evaluation.Cluster{Unselected: []string{"a"}},
			want: "a=NotInstalled", message: fails + "(not installed: none of its Placements selects this cluster)",
		},
		"Unread": {
			reason: "it says so once that is read", spec: spec, others: registered(placed), cluster: evaluation.Cluster{PlacementsUnread: true},
			want: "a=NotInstalled", message: fails + "(not installed)",
		},
		"Selected": {
			reason: "OCM is about to install it, or the decisions are not known", spec: spec, others: registered(placed),
			want: "a=NotInstalled", message: fails + "(not installed)",
		},
		"Outdated": {
			reason: "its strategy is another one now", spec: spec, others: registered(`{}`), cluster: evaluation.Cluster{Unselected: []string{"a"}},
			want: "a=NotInstalled", message: fails + "(not installed)",
		},
		"Version": {
			reason: "the same with a version", spec: `dependencies: [{name: a, version: ">= 1"}]`,
			others: registered(`installStrategy: {type: Manual}`),
			want:   "a=NotInstalled", message: fails + "(not installed: its install strategy is Manual)",
		},
		"BeingInstalled": {
			reason: "it has reported nothing yet", spec: spec, addOns: observe(created),
			want: "a=NotAvailable", message: fails + "(being installed since 2026-08-01T10:00:00Z)",
		},
		"BeingRemoved": {
			reason: "waiting does not help", spec: spec, addOns: observe(removed), want: "a=NotAvailable",
			message: fails + "(Available=False, Down, since 2026-08-01T10:00:00Z; being removed since 2026-08-01T11:00:00Z)",
		},
		"RemovedVictim": {
			reason: "both are true", spec: spec, addOns: observe(follows), want: "a=NotAvailable",
			message: fails + "(a Required dependency of its own is not satisfied; being removed since 2026-08-01T11:00:00Z)",
		},
		"AutoWithoutConsent": {
			reason: "the owner has to agree", spec: auto, others: registered(`installStrategy: {type: Manual}`),
			want: "a=NotInstalled", message: fails + "(not installed: its install strategy is Manual; for install: Auto, its owner must annotate " +
				"ClusterManagementAddOn 'a' with dependency.addon.open-cluster-management.io/install-on-demand=true)",
		},
		"AutoOfItsOwnManager": {
			reason: "Interlock leaves it alone", spec: auto, others: registered(`{}`), want: "a=NotInstalled",
			message: fails + "(not installed: install: Auto has no effect, because another component installs it)",
		},
		"StillWorks": {reason: "it is available until it is gone", spec: spec, addOns: observe(works), want: "a=Satisfied"},
	} {
		t.Run(name, tc.run)
	}

	c := evaluator(fixture.Registrations("x: a"))
	findings := c.Evaluate("x", c.State("x", evaluation.Cluster{}, func(string) evaluation.Observation { return evaluation.Observation{} }))
	want := fails + "(not installed: it has no ClusterManagementAddOn on this hub)"
	if got := condition.Message(findings, condition.MaxMessage); got != want {
		t.Errorf("not registered: got %q", got)
	}
}

// Owners consent by Placements that select a label.
func TestConsentByLabel(t *testing.T) {
	const unselected = "Required addon 'a' is not installed or not available. (not installed: none of its Placements selects this cluster"
	wrong := fixture.Consenting("ns", "p", "a")
	wrong.Spec.NumberOfClusters = new(int32)
	tc := ruleCase{
		spec: `dependencies: [{name: a, install: Auto}]`, cluster: evaluation.Cluster{Unselected: []string{"a"}}, want: "a=NotInstalled",
		others: []addonv1alpha1.ClusterManagementAddOn{
			fixture.Specified(t, "a", `installStrategy: {type: Placements, placements: [{namespace: ns, name: p}]}`),
		},
	}
	for name, test := range map[string]struct {
		placements catalog.Placements
		waits      evaluation.Wait
		want       string
	}{
		"None": {
			catalog.Placements{}, evaluation.NoWait, "; for install: Auto, its owner must list two Placements in ClusterManagementAddOn 'a' " +
				"that select the label 'install.dependency.addon.open-cluster-management.io/a')",
		},
		"Consents": {catalog.Placements{Items: []clusterv1beta1.Placement{fixture.Consenting("ns", "p", "a")}}, evaluation.NoWait, ")"},
		"OnTooManyClusters": {
			catalog.Placements{Items: []clusterv1beta1.Placement{fixture.Consenting("ns", "p", "a")}},
			evaluation.WaitForPlacement,
			"; " + evaluation.WaitForPlacement.Explanation("a", "") + ")",
		},
		"NotListed": {
			catalog.Placements{Items: []clusterv1beta1.Placement{fixture.Consenting("ns", "other", "a")}},
			evaluation.NoWait,
			"; for install: Auto, its owner must list two Placements in ClusterManagementAddOn 'a' " +
				"that select the label 'install.dependency.addon.open-cluster-management.io/a')",
		},
		"Wrong": {
			catalog.Placements{Items: []clusterv1beta1.Placement{wrong}}, evaluation.NoWait, "; install: Auto has no effect, because " +
				"Placement ns/p selects a limited number of clusters: remove spec.numberOfClusters)",
		},
		"Unread": {catalog.Placements{Unread: true}, evaluation.NoWait, ")"},
	} {
		t.Run(name, func(t *testing.T) {
			tc := tc
			tc.message, tc.cluster.Waits = unselected+test.want, map[string]evaluation.Wait{"a": test.waits}
			tc.among(t, policy.Set{}, test.placements)
		})
	}
}

// Where an installation is denied or waits, the message says why.
func TestInstallationsThatStop(t *testing.T) {
	const (
		auto   = `dependencies: [{name: a, install: Auto}]`
		never  = `dependencies: [{name: a}]`
		fails  = "Required addon 'a' is not installed or not available. (not installed: its install strategy is Manual"
		denies = "; install: Auto has no effect, because installations on this cluster are denied by AddOnDependencyPolicy 'p0')"
		deny   = "install: Deny"
		edge   = "{install: Deny, clusterSelector: {matchLabels: {tier: edge}}}"
		wrong  = "approved wrongly"

		approve = "annotate ClusterManagementAddOn 'a' with dependency.addon.open-cluster-management.io/approve-install=N, " +
			"as its event InstallationUnapproved says"
	)
	consenting := fixture.Specified(t, "a", `installStrategy: {type: Manual}`)
	consenting.Annotations = map[string]string{addonv1alpha1.InstallOnDemandAnnotation: "true"}
	onEdge := evaluation.Cluster{Labels: map[string]string{"tier": "edge"}}
	waits := func(wait evaluation.Wait) evaluation.Cluster {
		return evaluation.Cluster{Waits: map[string]evaluation.Wait{"a": wait}}
	}
	for name, test := range map[string]struct {
		spec, registered string
		cluster          evaluation.Cluster
		policies         []string
		message          string
	}{
		"Denied":    {auto, "", evaluation.Cluster{}, []string{deny}, fails + denies},
		"Elsewhere": {auto, "", evaluation.Cluster{}, []string{edge}, fails + ")"},
		"Selected":  {auto, "", onEdge, []string{edge}, fails + denies},
		"Allowed":   {auto, "", onEdge, []string{"install: Allow"}, fails + ")"},
		"Conflicting": {
			auto, "", onEdge,
			[]string{deny, "install: Allow", edge},
			fails + "; install: Auto has no effect, because installations on this cluster are denied by AddOnDependencyPolicies 'p0', 'p2')",
		},
		"Unusable": {auto, "", onEdge, []string{"install: Sometimes"}, fails + denies},
		"NotAsked": {never, "", evaluation.Cluster{}, []string{deny}, fails + ")"},
		"NoConsent": {
			auto, `installStrategy: {type: Manual}`,
			evaluation.Cluster{},
			[]string{deny},
			fails + "; for install: Auto, its owner must annotate ClusterManagementAddOn 'a' with " +
				"dependency.addon.open-cluster-management.io/install-on-demand=true" + denies,
		},
		"ByItself": {
			auto, `{}`, evaluation.Cluster{}, []string{deny}, "Required addon 'a' is not installed or not available. " +
				"(not installed: install: Auto has no effect, because another component installs it)",
		},
		"Approval": {
			auto, "", waits(evaluation.WaitForApproval), nil, fails + "; install: Auto waits for an approval, because 'a' would be " +
				"installed on many clusters; " + approve + ")",
		},
		"WrongApproval": {
			auto, wrong, waits(evaluation.WaitForApproval), nil, fails + "; install: Auto waits for an approval, because 'a' would be " +
				"installed on many clusters; " + approve + "; it says 'all of them', which is not a number)",
		},
		"WrongApprovalOfNothing": {auto, wrong, evaluation.Cluster{}, nil, fails + ")"},
		"Due": {
			auto, "", waits(evaluation.WaitForInterlock), nil,
			"Required addon 'a' is not installed or not available. (not installed: Interlock installs 'a', because of install: Auto)",
		},
		"DueWithoutAValueMeanwhile": {
			`dependencies: [{name: a, install: Auto, settings: {variables: [{name: ZONE, valueFrom: "cluster.labels[?'zone']", required: true}]}}]`,
			"", waits(evaluation.WaitForInterlock), nil, "Required addon 'a' is not installed or not available. " +
				"(not installed: setting 'ZONE' is required and has no value: valueFrom has none on this cluster)",
		},
		"DueAndDeniedMeanwhile":   {auto, "", waits(evaluation.WaitForInterlock), []string{deny}, fails + denies},
		"DueAndNotAskedMeanwhile": {never, "", waits(evaluation.WaitForInterlock), nil, fails + ")"},
		"DueWithoutConsentMeanwhile": {
			auto, `installStrategy: {type: Manual}`, waits(evaluation.WaitForInterlock), nil,
			fails + "; for install: Auto, its owner must annotate ClusterManagementAddOn 'a' with " +
				"dependency.addon.open-cluster-management.io/install-on-demand=true)",
		},
		"Unknown": {auto, "", waits(evaluation.WaitUnknown), nil, fails + ")"},
		"GivenUp": {
			auto, "", waits(evaluation.WaitGivenUp), nil,
			fails + "; install: Auto pauses, because 'a' was removed from this cluster again and again)",
		},
		"Refused": { // the hub can also refuse the AddOnInstallation, or the label of the managed cluster
			auto, "", waits(evaluation.WaitRefused), nil, fails + "; install: Auto does not succeed, because the hub refuses what installs 'a' " +
				"on this cluster; AddOnInstallation 'a' says why, or else the log of addon-manager)",
		},
		"DeniedMeanwhile":   {auto, "", waits(evaluation.WaitGivenUp), []string{deny}, fails + denies},
		"NotAskedMeanwhile": {never, "", waits(evaluation.WaitGivenUp), nil, fails + ")"},
	} {
		t.Run(name, func(t *testing.T) {
			registered := consenting
			if test.registered == wrong {
				registered = *consenting.DeepCopy()
				registered.Annotations[addonv1alpha1.ApproveInstallAnnotation] = "all of them"
			} else if test.registered != "" {
				registered = fixture.Specified(t, "a", test.registered)
			}
			ruleCase{
				spec: test.spec, others: []addonv1alpha1.ClusterManagementAddOn{registered}, cluster: test.cluster,
				want: "a=NotInstalled", message: test.message,
			}.withPolicies(t, policies(t, test.policies...))
		})
	}
}

// A policy that denies installations makes the labels of clusters matter to those that ask for one.
func TestInputsOfDenials(t *testing.T) {
	declared := catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "x", `dependencies: [{name: a, install: Auto}]`), fixture.Specified(t, "y", `dependencies: [{name: a}]`),
	})
	for spec, want := range map[string][]string{"install: Deny": {"x"}, "install: Allow": nil} {
		if got := evaluation.New(declared.WithPolicies(policies(t, spec))).WithInput(input.Labels); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", spec, got, want)
		}
	}
}

// An add-on waits for a dependency that is missing, being installed or being removed, and for no
// other.
func TestPending(t *testing.T) {
	since := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		spec     string
		observed evaluation.Observation
		want     bool
	}{
		"Missing":        {`dependencies: [{name: a}]`, evaluation.Observation{}, true},
		"Optional":       {`dependencies: [{name: a, type: Optional}]`, evaluation.Observation{}, false},
		"BeingInstalled": {`dependencies: [{name: a}]`, evaluation.Observation{Installed: true, Created: since}, true},
		"BeingRemoved":   {`dependencies: [{name: a}]`, evaluation.Observation{Installed: true, Removed: since}, true},
		"Failed": {`dependencies: [{name: a}]`, evaluation.Observation{
			Installed: true, Created: since, Available: fixture.Available(metav1.ConditionFalse, "Down"),
		}, false},
		"OldVersion": {`dependencies: [{name: a, version: ">= 2"}]`, running("1.0.0"), false},
		"Works":      {`dependencies: [{name: a}]`, running(""), false},
		"Platform":   {`requirements: {kubernetes: ">= 1.30"}`, evaluation.Observation{}, false},
	} {
		c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", test.spec)})
		findings := c.Evaluate("x", c.State("x", evaluation.Cluster{}, func(string) evaluation.Observation { return test.observed }))
		if got := findings[0].Pending(); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}

// Which clusters Placements select is read only where it explains a verdict.
func TestPlacementsAreReadWhereTheyExplain(t *testing.T) {
	placed := fixture.Specified(t, "a", `installStrategy: {type: Placements}`)
	for spec, want := range map[string]bool{
		`dependencies: [{name: a}]`:                                      true,
		`dependencies: [{name: a, type: Optional, version: ">= 1"}]`:     true,
		`dependencies: [{name: a, type: IfInstalled, version: ">= 1"}]`:  false,
		`dependencies: [{name: a, type: Conflicts}]`:                     false,
		`dependencies: [{name: a, api: {kind: Pod}}]`:                    false,
		`dependencies: [{name: b, when: {expression: "addOn.name=='"}}]`: false,
	} {
		c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", spec), placed})
		got := slices.ContainsFunc(c.Needs("x"), func(need evaluation.Need) bool { return need.Inputs.Any(input.Placements) })
		if got != want || c.AnyInput(input.Placements) {
			t.Errorf("%s: read %t, watched from the start %t", spec, got, c.AnyInput(input.Placements))
		}
	}
}
