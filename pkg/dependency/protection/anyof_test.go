package protection

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// evaluated are the findings on leaf where these add-ons are installed, by their versions; "down" is one that is not
// available.
func evaluated(t *testing.T, edges string, installed map[string]string) []evaluation.Finding {
	t.Helper()
	all := append(fixture.Registrations("base:, other:, back: leaf"), fixture.Specified(t, "leaf", "dependencies: "+edges))
	e := evaluation.New(catalog.New(all))
	return e.Evaluate("leaf", e.State("leaf", evaluation.Cluster{Available: metav1.ConditionTrue}, func(name string) evaluation.Observation {
		version, there := installed[name]
		status := metav1.ConditionTrue
		if version == "down" {
			status = metav1.ConditionFalse
		}
		return evaluation.Observation{Installed: there, Version: version, Available: fixture.Available(status, "")}
	}))
}

// Without base, the removal of which is reviewed.
func TestRequiresOneOfSeveral(t *testing.T) {
	const (
		required = `[{name: any, anyOf: [{addOn: base}, {addOn: other}]}]`
		optional = `[{name: any, type: Optional, anyOf: [{addOn: base}, {addOn: other}]}]`
	)
	for name, test := range map[string]struct {
		edges string
		left  map[string]string
		want  bool
	}{
		"the last one":                    {required, nil, true},
		"another is available":            {required, map[string]string{"other": ""}, false},
		"another is down":                 {required, map[string]string{"other": "down"}, true},
		"of an Optional edge":             {optional, nil, false},
		"another waits for the dependent": {`[{name: any, anyOf: [{addOn: base}, {addOn: back}]}]`, map[string]string{"back": ""}, true},
		"of others only":                  {`[{name: any, anyOf: [{addOn: back}, {addOn: other}]}]`, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Requires(evaluated(t, test.edges, test.left), "base"); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// An edge with alternatives contradicts what is installed where no waiting satisfies any of them.
func TestContradictionsOfAlternatives(t *testing.T) {
	const ranges = `[{name: any, anyOf: [{addOn: base, version: ">= 2"}, {addOn: other, version: ">= 2"}]}]`
	for name, test := range map[string]struct {
		edges     string
		installed map[string]string
		want      string
	}{
		"all have another version": {ranges, map[string]string{"base": "1.0.0", "other": "1.0.0"}, "any"},
		"one may follow":           {ranges, map[string]string{"base": "1.0.0"}, ""},
		"one is satisfied":         {ranges, map[string]string{"base": "1.0.0", "other": "2.0.0"}, ""},
		"one is circular": {
			`[{name: any, anyOf: [{addOn: base, version: ">= 2"}, {addOn: back}]}]`, map[string]string{"base": "1.0.0", "back": ""}, "any",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := contradictions(nil, evaluated(t, test.edges, test.installed)); got != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
	declared := catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "leaf", "dependencies: "+ranges)})
	for _, name := range []string{"base", "leaf"} {
		if !MayContradict(declared, name) {
			t.Errorf("%s may contradict", name)
		}
	}
}
