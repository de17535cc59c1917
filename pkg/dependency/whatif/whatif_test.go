package whatif

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/test/fixture"
)

func declared(addOns ...addonv1alpha1.ClusterManagementAddOn) *Evaluation {
	return New(evaluation.New(catalog.New(addOns)))
}

// cluster has the add-ons, all available in version 1.0.
func cluster(addOns string) Cluster {
	c := Cluster{AddOns: map[string]evaluation.Observation{}}
	c.Name, c.Now, c.KubernetesVersion = "cluster1", fixture.Now.Time, "v1.34.0"
	for name := range strings.FieldsSeq(addOns) {
		c.AddOns[name] = evaluation.Observation{
			Name: name, Installed: true, Version: "1.0", Available: &metav1.Condition{Type: "Available", Status: metav1.ConditionTrue},
		}
	}
	return c
}

func spell(differences []Difference) string {
	var all []string
	for _, d := range differences {
		before := "-"
		if d.Before != nil {
			before = string(d.Before.Verdict)
		}
		all = append(all, fmt.Sprintf("%s/%s: %s>%s %t", d.AddOn, d.After.Name(), before, d.After.Verdict, d.Breaks()))
	}
	return strings.Join(all, ", ")
}

// Add-ons that refer to each other are evaluated until nothing follows any more, in
// whatever order their names come.
func TestFindingsOfAddOnsThatReferToEachOther(t *testing.T) {
	b := map[string]string{
		"nothing":     "{name: c}",
		"Optional":    "{name: c}, {name: a, type: Optional}",
		"conditional": `{name: c}, {name: a, when: {expression: "false"}}`,
		"a conflict":  `{name: c}, {name: a, type: Conflicts, version: "> 2"}`,
	}
	for name, needs := range b {
		for _, kind := range []string{"Required", "Optional"} {
			evaluation := declared(fixture.Specified(t, "a", "dependencies: [{name: b, type: "+kind+"}]"),
				fixture.Specified(t, "b", "dependencies: ["+needs+"]"), fixture.Registration("c"))
			before := cluster("a b c")
			after := Change{Remove: []string{"c"}}.Apply(before)
			got := spell(Compare(evaluation.Findings(before), evaluation.Findings(after)))
			if !strings.HasPrefix(got, "a/b: Satisfied>NotAvailable true, b/c: Satisfied>NotInstalled true") {
				t.Errorf("%s, %s: %s", name, kind, got)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	alone := declared(fixture.Registrations("a")...)
	chain := fixture.Registrations("a: b, b: c, c, other")
	versioned := func(wanted string) addonv1alpha1.ClusterManagementAddOn {
		edge := fixture.Required("b")
		edge.Version = wanted
		return fixture.Registration("a", edge)
	}
	failing := cluster("a b c")
	fails := &metav1.Condition{
		Type: "Degraded", Status: metav1.ConditionTrue, Reason: addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
	}
	for _, name := range []string{"a", "b"} {
		observed := failing.AddOns[name]
		observed.Degraded = fails
		observed.Available = &metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: fails.Reason}
		failing.AddOns[name] = observed
	}
	for name, test := range map[string]struct {
		before, after *Evaluation
		on            Cluster
		change        Change
		want          string
	}{
		"nothing": {before: declared(chain...), on: cluster("a b c")},
		"the end of a chain": {
			before: declared(chain...), on: cluster("a b c"), change: Change{Remove: []string{"c"}},
			want: "a/b: Satisfied>NotAvailable true, b/c: Satisfied>NotInstalled true",
		},
		"what is not needed":  {before: declared(chain...), on: cluster("a b c other"), change: Change{Remove: []string{"other"}}},
		"with its dependents": {before: declared(chain...), on: cluster("a b c"), change: Change{Remove: []string{"a", "b", "c"}}},
		"another version": {
			before: declared(versioned(">=1.0, <2.0")), on: cluster("a b"), change: Change{Versions: map[string]string{"b": "2.1.0"}},
			want: "a/b: Satisfied>VersionMismatch true",
		},
		"a version that is accepted": {
			before: declared(versioned(">=1.0")), on: cluster("a b"), change: Change{Versions: map[string]string{"b": "2.1.0", "absent": "1"}},
		},
		"another Kubernetes": {
			before: declared(fixture.Specified(t, "a", `requirements: {kubernetes: "<1.36"}`)), on: cluster("a"),
			change: Change{Kubernetes: "v1.36.1"}, want: "a/requirements.kubernetes: Satisfied>RequirementNotMet true",
		},
		"a new edge":     {before: alone, after: declared(fixture.Registrations("a: b")...), on: cluster("a"), want: "a/b: ->NotInstalled true"},
		"one that holds": {before: alone, after: declared(fixture.Registrations("a: b")...), on: cluster("a b"), want: "a/b: ->Satisfied false"},
		"a repair": {
			before: declared(fixture.Registrations("a: b, b: c x, c")...), after: declared(chain...), on: failing,
			want: "a/b: NotAvailable>Satisfied false",
		},
		"an installation": {
			before: declared(chain...),
			on:     cluster("b"),
			change: Change{Install: []string{"a", "c"}},
			want:   "a/b: ->Satisfied false, b/c: NotInstalled>Satisfied false",
		},
		"one where a dependency fails": {
			before: declared(chain...),
			on:     cluster("c"),
			change: Change{Install: []string{"a"}},
			want:   "a/b: ->NotInstalled true",
		},
		"of what is installed": {before: declared(chain...), on: cluster("a b c"), change: Change{Install: []string{"a"}}},
		"on a cluster without add-ons": {
			before: declared(chain...),
			on:     Cluster{},
			change: Change{Install: []string{"a"}},
			want:   "a/b: ->NotInstalled true",
		},
		"a cluster that is lost": {before: declared(chain...), on: lost(cluster("a b c")), change: Change{Remove: []string{"c"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if test.after == nil {
				test.after = test.before
			}
			got := spell(Compare(test.before.Findings(test.on), test.after.Findings(test.change.Apply(test.on))))
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func lost(c Cluster) Cluster {
	c.Available, c.Offline = metav1.ConditionUnknown, evaluation.OfflineHold
	return c
}

// A change is tried on a copy.
func TestApplyChangesNothing(t *testing.T) {
	was := cluster("a b")
	Change{Remove: []string{"a"}, Install: []string{"c"}, Versions: map[string]string{"b": "2"}, Kubernetes: "v9", OCM: "9"}.Apply(was)
	if len(was.AddOns) != 2 || was.AddOns["b"].Version != "1.0" || was.Facts.Versions != nil || was.KubernetesVersion != "v1.34.0" {
		t.Errorf("it changed %+v", was)
	}
}

// Which declaration counts follows the AddOnTemplate, not the version.
func TestATemplateThatIsRolledOutBringsItsDeclaration(t *testing.T) {
	of := New(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("x"))},
		fixture.Template("x", "v1", `[{name: a}]`), fixture.Template("x", "v2", `[{name: a}, {name: b}]`))))
	now := cluster("x a")
	x := now.AddOns["x"]
	x.Template = versions.Templates{Name: "v1", Next: "v2", Running: "1.0", RollingOut: "2.0"}
	now.AddOns["x"] = x
	unknown := cluster("x a")
	x.Template = versions.Templates{Next: "v2", RollingOut: "2.0", Unknown: true}
	unknown.AddOns["x"] = x
	for name, test := range map[string]struct {
		on     Cluster
		change Change
		want   string
	}{
		"nothing":                  {now, Change{}, ""},
		"a version":                {now, Change{Versions: map[string]string{"x": "2.0"}}, ""},
		"the rollout":              {now, Change{RollOut: []string{"x"}}, "x/b: ->NotInstalled true"},
		"both":                     {now, Change{RollOut: []string{"x"}, Versions: map[string]string{"x": "2.0"}}, "x/b: ->NotInstalled true"},
		"not known which one runs": {unknown, Change{RollOut: []string{"x"}}, "x/a: ->Satisfied false, x/b: ->NotInstalled true"},
		"what is not rolled out":   {cluster("x a"), Change{RollOut: []string{"x", "nothing"}}, ""},
	} {
		if got := spell(Compare(of.Findings(test.on), of.Findings(test.change.Apply(test.on)))); got != test.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// What the AddOnTemplate declares that would run, counts instead of what the one declares that runs now.
func TestAnotherTemplateDeclares(t *testing.T) {
	for name, tt := range map[string]struct {
		runs string
		then map[string]string
		want string
	}{
		"one that needs more":           {"one", map[string]string{"a": "two"}, "a/b: ->NotInstalled true"},
		"the same one":                  {"two", map[string]string{"a": "two"}, ""},
		"of an add-on that is not here": {"one", map[string]string{"other": "two"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			evaluation := New(evaluation.New(catalog.New(
				[]addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("a")), fixture.Registration("b")},
				fixture.Template("a", "one", "[]"), fixture.Template("a", "two", "[{name: b}]"))))
			before := cluster("a")
			observed := before.AddOns["a"]
			observed.Template = versions.Templates{Name: tt.runs}
			before.AddOns["a"] = observed
			after := Change{Templates: tt.then}.Apply(before)
			if got := spell(Compare(evaluation.Findings(before), evaluation.Findings(after))); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
