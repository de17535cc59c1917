package protection

import (
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestAffected tests the add-ons that another version or declaration of base can break, and the add-ons to compare it with.
func TestAffected(t *testing.T) {
	for name, test := range map[string]struct{ base, leaf, stem, affected, compared string }{
		"nothing":         {base: "{}", leaf: "{}", stem: "{}", affected: "base"},
		"an edge on it":   {base: "{}", leaf: "dependencies: [{name: base}]", stem: "{}", affected: "base"},
		"a version of it": {base: "{}", leaf: `dependencies: [{name: base, version: ">= 1"}]`, stem: "{}", affected: "base leaf"},
		"a version of it by two": {
			base: "{}",
			leaf: `dependencies: [{name: base, version: ">= 1"}]`,
			stem: `dependencies: [{name: x, addOn: base, version: "2"}]`, affected: "base leaf stem",
		},
		"a version of another": {
			base: "{}",
			leaf: `dependencies: [{name: base}, {name: stem, version: ">= 1"}]`, stem: "{}", affected: "base",
		},
		"a conflict with it": {base: "{}", leaf: `dependencies: [{name: base, type: Conflicts}]`, stem: "{}", affected: "base"},
		"a conflict with some version": {
			base: "{}",
			leaf: `dependencies: [{name: base, type: Conflicts, version: "1"}]`, stem: "{}", affected: "base leaf",
		},
		"a cycle": {
			base: "dependencies: [{name: leaf}]", leaf: "dependencies: [{name: stem}]",
			stem: "dependencies: [{name: base}]", affected: "base leaf stem",
		},
		"its own edges": {
			base: `dependencies: [{name: leaf}, {name: stem, version: ">= 1"}, {name: x, type: Conflicts}, {name: y, api: {group: g, kind: K}}]`,
			leaf: "{}", stem: "{}", affected: "base", compared: "stem x",
		},
	} {
		declared := catalog.New([]addonv1alpha1.ClusterManagementAddOn{
			fixture.Specified(t, "base", test.base), fixture.Specified(t, "leaf", test.leaf), fixture.Specified(t, "stem", test.stem),
		})
		if got := strings.Join(Affected(declared, "base"), " "); got != test.affected {
			t.Errorf("%s: affected %q, want %q", name, got, test.affected)
		}
		if got := strings.Join(Compared(declared, "base"), " "); got != test.compared {
			t.Errorf("%s: compared %q, want %q", name, got, test.compared)
		}
	}
}

func TestAffectedByOCM(t *testing.T) {
	declared := evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "released", "{}"), fixture.Specified(t, "other", "{}"),
		fixture.Specified(t, "requiring", `requirements: {ocm: ">= 1.2"}`),
		fixture.Specified(t, "of-kubernetes", `requirements: {kubernetes: ">= 1.30"}`),
		fixture.Specified(t, "comparing", `dependencies: [{name: released, version: ">= 1.2"}]`),
		fixture.Specified(t, "choosing", `dependencies: [{name: x, anyOf: [{addOn: other}, {addOn: released, version: ">= 1.2"}]}]`),
		fixture.Specified(t, "comparing-other", `dependencies: [{name: other, version: ">= 1.2"}]`),
		fixture.Specified(t, "depending", `dependencies: [{name: released}]`),
	}))
	got := strings.Join(AffectedByOCM(declared, func(addOn string) bool { return addOn == "released" }), " ")
	if got != "choosing comparing requiring" {
		t.Errorf("got %q", got)
	}
}

func TestNeeds(t *testing.T) {
	edge := func(verdict evaluation.Verdict, dependency addonv1alpha1.AddonDependency) evaluation.Finding {
		return evaluation.Finding{Dependency: &dependency, Verdict: verdict}
	}
	const (
		required    = addonv1alpha1.DependencyTypeRequired
		ifInstalled = addonv1alpha1.DependencyTypeIfInstalled
		conflicts   = addonv1alpha1.DependencyTypeConflicts
	)
	cycle := edge(evaluation.Cycle, addonv1alpha1.AddonDependency{Name: "b", Type: required})
	cycle.Cycle = []string{"a", "b", "a"}
	for _, test := range []struct {
		finding evaluation.Finding
		want    string
	}{
		{
			edge(evaluation.VersionMismatch, addonv1alpha1.AddonDependency{Name: "x", AddOn: "base", Version: ">= 2", Type: required}),
			"requires base in version '>= 2'",
		},
		{
			edge(evaluation.VersionMismatch, addonv1alpha1.AddonDependency{Name: "base", Version: ">= 2", Type: ifInstalled}),
			"requires base in version '>= 2' where it is installed",
		},
		{edge(evaluation.Conflict, addonv1alpha1.AddonDependency{Name: "base", Type: conflicts}), "conflicts with base"},
		{
			edge(evaluation.Conflict, addonv1alpha1.AddonDependency{Name: "base", Version: "1.x", Type: conflicts}),
			"conflicts with base in version '1.x'",
		},
		{
			edge(evaluation.VersionMismatch, addonv1alpha1.AddonDependency{Name: "base", Version: "1\n\x1b[2J", Type: required}),
			"requires base in version '1  [2J'",
		},
		{
			edge(evaluation.NoAlternative, addonv1alpha1.AddonDependency{Name: "x", Type: required, AnyOf: []addonv1alpha1.DependencyAlternative{
				{AddOn: "base", Version: ">= 2"}, {AddOn: "other", Version: "1.x"},
			}}),
			"requires base in version '>= 2' or other in version '1.x'",
		},
		{cycle, "is on the dependency cycle: a → b → a"},
		{
			evaluation.Finding{
				Requirement: &declaration.Requirement{Subject: "Kubernetes version", Wanted: ">= 1.30"},
				Verdict:     evaluation.RequirementNotMet,
			},
			"requires Kubernetes version '>= 1.30'",
		},
	} {
		if got := Needs(test.finding); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

func TestOCMOf(t *testing.T) {
	for image, want := range map[string]string{
		"quay.io/open-cluster-management/registration:v1.3.1": "v1.3.1", "registration:1.3.1": "1.3.1",
		"localhost:5000/registration:v1.3.1-rc.1": "v1.3.1-rc.1",
		"": "", "registration": "", "localhost:5000/registration": "", "registration:latest": "", "registration:v1": "",
		"registration:20240131": "", "registration@sha256:5f70": "", "localhost:5000/registration@sha256:5f70": "", "a:b:v1.3.1": "",
		"registration:v1.3.1@sha256:5f70": "v1.3.1", "localhost:5000/registration:1.3.1@sha256:5f70": "1.3.1",
		"registration:latest@sha256:5f70":                    "",
		"registration:v" + strings.Repeat("1", 300) + ".0.0": "",
	} {
		if got, ok := OCMOf(image); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %t", image, got, ok)
		}
	}
}

func TestUpgradeOf(t *testing.T) {
	type images = map[string]string
	const digest = "@sha256:5f70"
	twoImages := images{"work": "w:v1.0.0", "placement": "p:v1.0.0"}
	for name, test := range map[string]struct {
		previous, current images
		want, err         string
	}{
		"none":              {images{"work": "w:v1.0.0"}, images{"work": "w:v1.0.0"}, "", ""},
		"none by digest":    {images{"work": "w" + digest}, images{"work": "w" + digest}, "", ""},
		"one":               {twoImages, images{"work": "w:v1.1.0", "placement": "p:v1.0.0"}, "1.1.0", ""},
		"all":               {twoImages, images{"work": "w:v1.1.0", "placement": "p:1.1.0"}, "1.1.0", ""},
		"tag and digest":    {images{"work": "w:v1.0.0"}, images{"work": "w:v1.1.0" + digest}, "1.1.0", ""},
		"digest":            {images{"work": "w:v1.0.0"}, images{"work": "w" + digest}, "", "no tag that is a version in work"},
		"several versions":  {images{}, images{"work": "w:v1.1.0", "placement": "p:v1.2.0"}, "", "images have several versions: 1.1.0, 1.2.0"},
		"one not known":     {images{}, images{"work": "w:v1.1.0", "placement": "p"}, "", "no tag that is a version in placement"},
		"two not known":     {images{}, images{"work": "w:latest", "placement": "p"}, "", "no tag that is a version in placement, work"},
		"only the registry": {images{"work": "a/w:v1.1.0"}, images{"work": "b/w:v1.1.0"}, "1.1.0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			upgrade, problem := UpgradeOf(test.previous, test.current), ""
			if err := upgrade.Err(); err != nil {
				problem = err.Error()
			}
			version, ok := upgrade.Version()
			if version != test.want || ok != (test.want != "") || problem != test.err {
				t.Errorf("%q, %t, %q", version, ok, problem)
			}
			if upgrade.Changes() != (test.want+test.err != "") {
				t.Errorf("changes: %t", upgrade.Changes())
			}
		})
	}
}
