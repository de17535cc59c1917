package protection

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// findingOn returns the finding on an edge of this type with this verdict.
func findingOn(name string, kind addonv1alpha1.DependencyType, verdict evaluation.Verdict) evaluation.Finding {
	return evaluation.Finding{Dependency: &addonv1alpha1.AddonDependency{Name: name, Type: kind}, Verdict: verdict}
}

// contradictions returns the names of the contradictions of leaf that a change adds.
func contradictions(previous, current []evaluation.Finding) string {
	var names []string
	changes := Contradictions(map[string][]evaluation.Finding{"leaf": previous}, map[string][]evaluation.Finding{"leaf": current})
	for _, finding := range changes["leaf"] {
		names = append(names, finding.Name())
	}
	return strings.Join(names, " ")
}

// TestContradictions has a case for each verdict. The cases follow the rules of Deckhouse for enabling a module. Waiting
// does not end a contradiction.
func TestContradictions(t *testing.T) {
	contradicting := []evaluation.Verdict{evaluation.VersionMismatch, evaluation.Conflict, evaluation.RequirementNotMet, evaluation.Cycle}
	for _, verdict := range evaluation.Verdicts {
		for kind, blocks := range map[addonv1alpha1.DependencyType]bool{
			addonv1alpha1.DependencyTypeRequired: true, addonv1alpha1.DependencyTypeIfInstalled: true,
			addonv1alpha1.DependencyTypeConflicts: true, addonv1alpha1.DependencyTypeOptional: false,
		} {
			if verdict == evaluation.RequirementNotMet {
				continue // only requirements have this verdict
			}
			want := blocks && slices.Contains(contradicting, verdict)
			if got := contradictions(nil, []evaluation.Finding{findingOn("base", kind, verdict)}) != ""; got != want {
				t.Errorf("%s, %s: got %t, want %t", verdict, kind, got, want)
			}
		}
	}
}

func TestContradictionsOfRequirements(t *testing.T) {
	for name, test := range map[string]struct {
		verdict evaluation.Verdict
		version string
		want    bool
	}{
		"another value":    {evaluation.RequirementNotMet, "GCP", true},
		"not reported yet": {evaluation.RequirementNotMet, "", false},
		"not known":        {evaluation.VersionUnknown, "", false},
	} {
		finding := evaluation.Finding{Requirement: &declaration.Requirement{Name: "requirements.claims"}, Verdict: test.verdict}
		finding.Detail = &evaluation.Detail{Version: versions.Version{Number: test.version}}
		if got := contradictions(nil, []evaluation.Finding{finding}) != ""; got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

// A change does not break an add-on that is broken already.
func TestContradictionsAreNew(t *testing.T) {
	const required = addonv1alpha1.DependencyTypeRequired
	mismatch := findingOn("base", required, evaluation.VersionMismatch)
	named := func(name string, addOn string, verdict evaluation.Verdict) evaluation.Finding {
		renamed := findingOn(name, required, verdict)
		renamed.Dependency.AddOn = addOn
		return renamed
	}
	alternatives := func(names ...string) evaluation.Finding {
		several := findingOn("any", required, evaluation.NoAlternative)
		several.Detail = &evaluation.Detail{}
		for _, name := range names {
			several.Detail.Alternatives = append(several.Detail.Alternatives, findingOn(name, required, evaluation.VersionMismatch))
		}
		return several
	}
	for name, test := range map[string]struct {
		previous []evaluation.Finding
		want     string
	}{
		"none before":               {nil, "base"},
		"satisfied before":          {[]evaluation.Finding{findingOn("base", required, evaluation.Satisfied)}, "base"},
		"not installed before":      {[]evaluation.Finding{findingOn("base", required, evaluation.NotInstalled)}, "base"},
		"of another version before": {[]evaluation.Finding{mismatch}, ""},
		"on a cycle before":         {[]evaluation.Finding{findingOn("base", required, evaluation.Cycle)}, ""},
		"of another edge":           {[]evaluation.Finding{findingOn("other", required, evaluation.VersionMismatch)}, "base"},
		"by another name before":    {[]evaluation.Finding{named("former", "base", evaluation.VersionMismatch)}, ""},
		"by its name, of another":   {[]evaluation.Finding{named("base", "other", evaluation.VersionMismatch)}, "base"},
		"satisfied by another name": {[]evaluation.Finding{named("former", "base", evaluation.Satisfied)}, "base"},
		"one of several before":     {[]evaluation.Finding{alternatives("base", "other")}, ""},
		"others before":             {[]evaluation.Finding{alternatives("stem", "other")}, "base"},
		"of an Optional edge before": {
			[]evaluation.Finding{findingOn("base", addonv1alpha1.DependencyTypeOptional, evaluation.VersionMismatch)}, "base",
		},
	} {
		if got := contradictions(test.previous, []evaluation.Finding{mismatch}); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	if got := contradictions([]evaluation.Finding{mismatch}, []evaluation.Finding{alternatives("base", "other")}); got != "" {
		t.Errorf("relaxed to alternatives: got %q", got)
	}
}

// The installation of leaf need not be reviewed if no declaration can contradict it.
func TestMayContradict(t *testing.T) {
	for name, test := range map[string]struct {
		leaf, stem, policy string
		want               bool
	}{
		"nothing":                       {leaf: "{}", stem: "{}"},
		"an edge":                       {leaf: "dependencies: [{name: base}]", stem: "{}"},
		"an edge on it":                 {leaf: "{}", stem: "dependencies: [{name: leaf}]"},
		"an edge on an API":             {leaf: "dependencies: [{name: base, api: {group: g, kind: K}}]", stem: "{}"},
		"a version":                     {leaf: `dependencies: [{name: base, version: ">= 1"}]`, stem: "{}", want: true},
		"a version of it":               {leaf: "{}", stem: `dependencies: [{name: leaf, version: ">= 1"}]`, want: true},
		"a version of another":          {leaf: "{}", stem: `dependencies: [{name: leaf}, {name: base, version: ">= 1"}]`},
		"a version that a policy wants": {leaf: "dependencies: [{name: base}]", stem: "{}", policy: `version: ">= 1"`, want: true},
		"a conflict":                    {leaf: "dependencies: [{name: base, type: Conflicts}]", stem: "{}", want: true},
		"a conflict with it":            {leaf: "{}", stem: "dependencies: [{name: leaf, type: Conflicts}]", want: true},
		"a requirement":                 {leaf: `requirements: {kubernetes: ">= 1.30"}`, stem: "{}", want: true},
		"a requirement of a dependent":  {leaf: "{}", stem: `{dependencies: [{name: leaf}], requirements: {kubernetes: ">= 1.30"}}`},
		"a cycle":                       {leaf: "dependencies: [{name: stem}]", stem: "dependencies: [{name: leaf}]", want: true},
		"a cycle under a condition": {
			leaf: "dependencies: [{name: stem}]", stem: `dependencies: [{name: leaf, when: {expression: "cluster.name == 'c'"}}]`, want: true,
		},
	} {
		declared := catalog.New([]addonv1alpha1.ClusterManagementAddOn{
			fixture.Specified(t, "leaf", test.leaf), fixture.Specified(t, "stem", test.stem), fixture.Specified(t, "base", "{}"),
		})
		if test.policy != "" {
			override := fixture.Policy(t, "p", "overrides: [{addOn: leaf, dependency: base, "+test.policy+"}]")
			declared = declared.WithPolicies(policy.Read([]dependencyv1alpha1.AddOnDependencyPolicy{override}))
		}
		if got := MayContradict(declared, "leaf"); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

// TestSettle tests the changes that waiting brings, and that the argument stays as it is.
func TestSettle(t *testing.T) {
	fails := &metav1.Condition{Type: "Degraded", Status: metav1.ConditionTrue}
	state := evaluation.State{AddOns: evaluation.AddOns{
		{Name: "absent"}, {Name: "leaving", Installed: true, Removed: time.Unix(1, 0)}, {Name: "starting", Installed: true, Degraded: fails},
	}}
	state.Cluster.Facts.Versions = map[string]evaluation.VersionFact{"starting": {Version: "1.0"}, "absent": {Version: "2.0"}}
	unchanged := state.String()
	settled := Settle(state, "starting")
	for name, want := range map[string]bool{"absent": false, "leaving": false, "starting": true} {
		observed := settled.AddOns.Named(name)
		if observed.Installed != want || want && (observed.Degraded != nil || observed.Available.Status != metav1.ConditionTrue) {
			t.Errorf("%s: got %+v", name, observed)
		}
	}
	if version, answered := settled.Cluster.Facts.Versions["starting"]; !answered || version.Version != "" {
		t.Errorf("the version before counts: %+v", settled.Cluster.Facts.Versions)
	}
	if settled.Cluster.Facts.Versions["absent"].Version != "2.0" || state.String() != unchanged {
		t.Errorf("got %s, was %s, is %s", settled, unchanged, state)
	}
	if facts := Settle(evaluation.State{}, "x").Cluster.Facts; len(facts.Versions) != 1 {
		t.Errorf("got %+v", facts)
	}
}

func TestMessageOfContradictions(t *testing.T) {
	conflict := func(addOn string) []evaluation.Finding {
		return []evaluation.Finding{findingOn(addOn, addonv1alpha1.DependencyTypeConflicts, evaluation.Conflict)}
	}
	const sentence = "Addon '%s' is installed, which conflicts with this addon. (installed)"
	fiveAddOns := Contradicted{}
	for i := range 5 {
		fiveAddOns[fmt.Sprintf("add-on-%d", i)] = conflict("leaf")
	}
	leaf := fmt.Sprintf(sentence, "leaf")
	for name, test := range map[string]struct {
		contradicted Contradicted
		want         string
	}{
		"nothing":    {Contradicted{}, ""},
		"its own":    {Contradicted{"leaf": conflict("base")}, "contradicts what it needs: " + fmt.Sprintf(sentence, "base")},
		"of another": {Contradicted{"stem": conflict("leaf")}, "would break 1 add-on: stem: " + leaf},
		"both": {
			Contradicted{"leaf": conflict("base"), "stem": conflict("leaf")},
			"contradicts what it needs: " + fmt.Sprintf(sentence, "base") + "; and would break 1 add-on: stem: " + leaf,
		},
		"of many": {
			fiveAddOns, "would break 5 add-ons: add-on-0: " + leaf + "; add-on-1: " + leaf + "; add-on-2: " + leaf + "; and 2 more add-ons",
		},
	} {
		if got := test.contradicted.Message("leaf"); got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, test.want)
		}
	}
}
