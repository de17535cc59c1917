package protection

import (
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// evaluated returns the findings on leaf beside installed add-ons with these versions. The version "down" means that the
// add-on is not available.
func evaluated(t *testing.T, edges string, installed map[string]string) []evaluation.Finding {
	t.Helper()
	registrations := append(fixture.Registrations("base:, other:, back: leaf"), fixture.Specified(t, "leaf", "dependencies: "+edges))
	e := evaluation.New(catalog.New(registrations))
	return e.Evaluate("leaf", e.State("leaf", evaluation.Cluster{Available: metav1.ConditionTrue}, func(name string) evaluation.Observation {
		version, ok := installed[name]
		status := metav1.ConditionTrue
		if version == "down" {
			status = metav1.ConditionFalse
		}
		return evaluation.Observation{Installed: ok, Version: version, Available: fixture.Available(status, "")}
	}))
}

// The removal of add-ons takes an edge with alternatives from leaf only if no other alternative satisfies it.
func TestTakenOfAlternatives(t *testing.T) {
	const (
		required = `[{name: any, anyOf: [{addOn: base}, {addOn: other}]}]`
		optional = `[{name: any, type: Optional, anyOf: [{addOn: base}, {addOn: other}]}]`
		circular = `[{name: any, anyOf: [{addOn: base}, {addOn: back}]}]`
		newer    = `[{name: any, anyOf: [{addOn: base, version: ">= 2"}, {addOn: other}]}]`
	)
	for name, test := range map[string]struct {
		edges     string
		installed map[string]string
		removed   string
		want      string
	}{
		"the last one":                    {required, map[string]string{"base": ""}, "base", "requires base or other"},
		"another is available":            {required, map[string]string{"base": "", "other": ""}, "base", ""},
		"another is down":                 {required, map[string]string{"base": "", "other": "down"}, "base", "requires base or other"},
		"both at once":                    {required, map[string]string{"base": "", "other": ""}, "base other", "requires base or other"},
		"it is down":                      {required, map[string]string{"base": "down"}, "base", ""},
		"both are down":                   {required, map[string]string{"base": "down", "other": "down"}, "base", ""},
		"it never satisfied the edge":     {newer, map[string]string{"base": "1.0.0"}, "base", ""},
		"it satisfied the edge":           {newer, map[string]string{"base": "2.0.0"}, "base", "requires base in version '>= 2' or other"},
		"of an Optional edge":             {optional, map[string]string{"base": ""}, "base", ""},
		"another waits for the dependent": {circular, map[string]string{"base": "", "back": ""}, "base", "requires base or back"},
		"of others only":                  {`[{name: any, anyOf: [{addOn: back}, {addOn: other}]}]`, map[string]string{"base": ""}, "base", ""},
		"a plain edge, which need not have been satisfied": {`[{name: base}]`, map[string]string{"base": "down"}, "base", "requires base"},
	} {
		t.Run(name, func(t *testing.T) {
			remaining, removed := maps.Clone(test.installed), strings.Fields(test.removed)
			for _, addOn := range removed {
				delete(remaining, addOn)
			}
			if got := takenBy(t, evaluated(t, test.edges, test.installed), evaluated(t, test.edges, remaining), removed...); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// An edge with alternatives contradicts installed add-ons if none of them can become satisfied by waiting.
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
