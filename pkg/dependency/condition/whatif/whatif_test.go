package whatif

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func evaluationOf(addOns ...addonv1alpha1.ClusterManagementAddOn) *Evaluation {
	return New(evaluation.New(catalog.New(addOns)))
}

// cluster returns a cluster with the add-ons. All are available in version 1.0.
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
	var items []string
	for _, d := range differences {
		oldVerdict := "-"
		if d.Before != nil {
			oldVerdict = string(d.Before.Verdict)
		}
		items = append(items, fmt.Sprintf("%s/%s: %s>%s %t", d.AddOn, d.After.Name(), oldVerdict, d.After.Verdict, d.Breaks()))
	}
	return strings.Join(items, ", ")
}

// Add-ons that refer to each other are evaluated until no condition changes any more. The order of their names does not matter.
func TestFindingsOfAddOnsThatReferToEachOther(t *testing.T) {
	b := map[string]string{
		"nothing":     "{name: c}",
		"Optional":    "{name: c}, {name: a, type: Optional}",
		"conditional": `{name: c}, {name: a, when: {expression: "false"}}`,
		"a conflict":  `{name: c}, {name: a, type: Conflicts, version: "> 2"}`,
	}
	for name, needs := range b {
		for _, kind := range []string{"Required", "Optional"} {
			evaluated := evaluationOf(fixture.Specified(t, "a", "dependencies: [{name: b, type: "+kind+"}]"),
				fixture.Specified(t, "b", "dependencies: ["+needs+"]"), fixture.Registration("c"))
			installed := cluster("a b c")
			changed := Change{Remove: []string{"c"}}.Apply(installed)
			got := spell(Compare(evaluated.Findings(installed), evaluated.Findings(changed)))
			if !strings.HasPrefix(got, "a/b: Satisfied>NotAvailable true, b/c: Satisfied>NotInstalled true") {
				t.Errorf("%s, %s: %s", name, kind, got)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	alone := evaluationOf(fixture.Registrations("a")...)
	chain := fixture.Registrations("a: b, b: c, c, other")
	versioned := func(wanted string) addonv1alpha1.ClusterManagementAddOn {
		edge := fixture.Required("b")
		edge.Version = wanted
		return fixture.Registration("a", edge)
	}
	failing := cluster("a b c")
	requiredFails := &metav1.Condition{
		Type: "Degraded", Status: metav1.ConditionTrue, Reason: addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
	}
	for _, name := range []string{"a", "b"} {
		observed := failing.AddOns[name]
		observed.Degraded = requiredFails
		observed.Available = &metav1.Condition{Type: "Available", Status: metav1.ConditionFalse, Reason: requiredFails.Reason}
		failing.AddOns[name] = observed
	}
	for name, test := range map[string]struct {
		// declared is used before the change, and redeclared after it. A nil redeclared means the same declarations.
		declared, redeclared *Evaluation

		cluster Cluster
		change  Change
		want    string
	}{
		"nothing": {declared: evaluationOf(chain...), cluster: cluster("a b c")},
		"the end of a chain": {
			declared: evaluationOf(chain...), cluster: cluster("a b c"), change: Change{Remove: []string{"c"}},
			want: "a/b: Satisfied>NotAvailable true, b/c: Satisfied>NotInstalled true",
		},
		"what is not needed":  {declared: evaluationOf(chain...), cluster: cluster("a b c other"), change: Change{Remove: []string{"other"}}},
		"with its dependents": {declared: evaluationOf(chain...), cluster: cluster("a b c"), change: Change{Remove: []string{"a", "b", "c"}}},
		"another version": {
			declared: evaluationOf(versioned(">=1.0, <2.0")), cluster: cluster("a b"), change: Change{Versions: map[string]string{"b": "2.1.0"}},
			want: "a/b: Satisfied>VersionMismatch true",
		},
		"a version that is accepted": {
			declared: evaluationOf(versioned(">=1.0")), cluster: cluster("a b"),
			change: Change{Versions: map[string]string{"b": "2.1.0", "absent": "1"}},
		},
		"another Kubernetes": {
			declared: evaluationOf(fixture.Specified(t, "a", `requirements: {kubernetes: "<1.36"}`)), cluster: cluster("a"),
			change: Change{Kubernetes: "v1.36.1"}, want: "a/requirements.kubernetes: Satisfied>RequirementNotMet true",
		},
		"a new edge": {
			declared: alone, redeclared: evaluationOf(fixture.Registrations("a: b")...), cluster: cluster("a"),
			want: "a/b: ->NotInstalled true",
		},
		"one that holds": {
			declared: alone, redeclared: evaluationOf(fixture.Registrations("a: b")...), cluster: cluster("a b"),
			want: "a/b: ->Satisfied false",
		},
		"a repair": {
			declared: evaluationOf(fixture.Registrations("a: b, b: c x, c")...), redeclared: evaluationOf(chain...), cluster: failing,
			want: "a/b: NotAvailable>Satisfied false",
		},
		"an installation": {
			declared: evaluationOf(chain...),
			cluster:  cluster("b"),
			change:   Change{Install: []string{"a", "c"}},
			want:     "a/b: ->Satisfied false, b/c: NotInstalled>Satisfied false",
		},
		"one where a dependency fails": {
			declared: evaluationOf(chain...),
			cluster:  cluster("c"),
			change:   Change{Install: []string{"a"}},
			want:     "a/b: ->NotInstalled true",
		},
		"of what is installed": {declared: evaluationOf(chain...), cluster: cluster("a b c"), change: Change{Install: []string{"a"}}},
		"on a cluster without add-ons": {
			declared: evaluationOf(chain...),
			cluster:  Cluster{},
			change:   Change{Install: []string{"a"}},
			want:     "a/b: ->NotInstalled true",
		},
		"a cluster that is lost": {declared: evaluationOf(chain...), cluster: lost(cluster("a b c")), change: Change{Remove: []string{"c"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if test.redeclared == nil {
				test.redeclared = test.declared
			}
			got := spell(Compare(test.declared.Findings(test.cluster), test.redeclared.Findings(test.change.Apply(test.cluster))))
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
	installed := cluster("a b")
	Change{Remove: []string{"a"}, Install: []string{"c"}, Versions: map[string]string{"b": "2"}, Kubernetes: "v9", OCM: "9"}.Apply(installed)
	if len(installed.AddOns) != 2 || installed.AddOns["b"].Version != "1.0" || installed.Facts.Versions != nil ||
		installed.KubernetesVersion != "v1.34.0" {
		t.Errorf("it changed %+v", installed)
	}
}

// The AddOnTemplate decides which declaration applies. The version does not.
func TestATemplateThatIsRolledOutBringsItsDeclaration(t *testing.T) {
	evaluated := New(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("x"))},
		fixture.Template("x", "v1", `[{name: a}]`), fixture.Template("x", "v2", `[{name: a}, {name: b}]`))))
	rollingOut := cluster("x a")
	x := rollingOut.AddOns["x"]
	x.Template = versions.Templates{Name: "v1", Next: "v2", Running: "1.0", RollingOut: "2.0"}
	rollingOut.AddOns["x"] = x
	unknown := cluster("x a")
	x.Template = versions.Templates{Next: "v2", RollingOut: "2.0", Unknown: true}
	unknown.AddOns["x"] = x
	for name, test := range map[string]struct {
		cluster Cluster
		change  Change
		want    string
	}{
		"nothing":     {rollingOut, Change{}, ""},
		"a version":   {rollingOut, Change{Versions: map[string]string{"x": "2.0"}}, ""},
		"the rollout": {rollingOut, Change{RollOut: []string{"x"}}, "x/b: ->NotInstalled true"},
		"both": {
			rollingOut, Change{RollOut: []string{"x"}, Versions: map[string]string{"x": "2.0"}}, "x/b: ->NotInstalled true",
		},
		"not known which one runs": {unknown, Change{RollOut: []string{"x"}}, "x/a: ->Satisfied false, x/b: ->NotInstalled true"},
		"what is not rolled out":   {cluster("x a"), Change{RollOut: []string{"x", "nothing"}}, ""},
	} {
		if got := spell(Compare(evaluated.Findings(test.cluster), evaluated.Findings(test.change.Apply(test.cluster)))); got != test.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// A change of the AddOnTemplate replaces the declaration of the add-on.
func TestAnotherTemplateDeclares(t *testing.T) {
	for name, tt := range map[string]struct {
		template  string
		templates map[string]string
		want      string
	}{
		"one that needs more":           {"one", map[string]string{"a": "two"}, "a/b: ->NotInstalled true"},
		"the same one":                  {"two", map[string]string{"a": "two"}, ""},
		"of an add-on that is not here": {"one", map[string]string{"other": "two"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			evaluated := New(evaluation.New(catalog.New(
				[]addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("a")), fixture.Registration("b")},
				fixture.Template("a", "one", "[]"), fixture.Template("a", "two", "[{name: b}]"))))
			installed := cluster("a")
			observed := installed.AddOns["a"]
			observed.Template = versions.Templates{Name: tt.template}
			installed.AddOns["a"] = observed
			changed := Change{Templates: tt.templates}.Apply(installed)
			if got := spell(Compare(evaluated.Findings(installed), evaluated.Findings(changed))); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
