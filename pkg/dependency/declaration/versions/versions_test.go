package versions

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func prereleases(identifiers ...string) *addonv1alpha1.DependencyPrereleases {
	return &addonv1alpha1.DependencyPrereleases{Identifiers: identifiers}
}

// The ranges in the documents of other systems are accepted. Each case names its document.
func TestRanges(t *testing.T) {
	const (
		deckhouse = "Deckhouse: Dependencies of the Deckhouse Kubernetes Platform modules"
		helm      = "Helm: Helm Dependencies"
		carvel    = "Carvel: Dependency Resolution in KC"
		kudo      = "KUDO: KUDO Dependencies"
		design    = "the API's own documentation"
		masters   = "Masterminds/semver: README"
	)
	cases := []struct {
		source, text string
		prereleases  *addonv1alpha1.DependencyPrereleases
		// matching and excluded are versions, separated by blanks.
		matching, excluded string
	}{
		{source: deckhouse + ", platform", text: ">= 1.61", matching: "1.61.0 v1.61.0 1.73.3 2.0.0", excluded: "1.0.0 1.60.9 1.61.0-rc.1"},
		{source: deckhouse + ", ModuleRelease test-v0.8.3", text: "> v1.64.0", matching: "v1.64.1 1.65.0", excluded: "1.0.0 v1.64.0"},
		{source: deckhouse + ", DeckhouseRelease v1.73.4", text: "< v1.73.4", matching: "v1.73.3", excluded: "v1.73.4"},
		{source: deckhouse + ", Kubernetes", text: ">= 1.28", matching: "1.28 1.28.0 1.29.6", excluded: "1.27 1.27.3"},
		{source: deckhouse + ", ModuleRelease test-v0.8.2", text: "> 1.29", matching: "1.30.0", excluded: "1.29.0 1.29.6"},
		{source: deckhouse + ", user-authn", text: ">= 0.0.0", matching: "0.0.0 0.0.1 1.2.3"},
		{source: deckhouse + ", ingress-nginx", text: "> 1.67.0", matching: "1.67.1", excluded: "1.67.0"},
		{source: deckhouse + ", operator-trivy", text: "> v1.64.0", matching: "1.64.1", excluded: "1.64.0"},
		{source: deckhouse + ", !optional, in our words", text: ">v0.22.1", matching: "v0.22.2 v0.23.1", excluded: "v0.21.1 v0.22.1"},
		{source: deckhouse + ", =v0.22.1 !optional, in our words", text: "=v0.22.1", matching: "v0.22.1", excluded: "0.23.1 0.21.1"},
		{source: helm + ", chart b", text: "1.0.0", matching: "1.0.0 v1.0.0", excluded: "1.0.1 0.9.9"},
		{source: helm + ", postgresql", text: "6.3.2", matching: "6.3.2", excluded: "6.3.3"},
		{source: carvel + ", dep1", text: "~>1.0.0", matching: "1.0.0 1.0.7", excluded: "1.1.0 0.9.0"},
		{source: carvel + ", dep3", text: "0.1.0", matching: "0.1.0", excluded: "0.2.0"},
		{source: carvel + ", dep4", text: "0.2.0", matching: "0.2.0", excluded: "0.1.0"},
		{source: carvel + ", override", text: "1.0.1", matching: "1.0.1", excluded: "0.1.1"},
		{source: carvel + ", high version", text: ">4.0.0", matching: "4.0.1", excluded: "4.0.0 1.0.0"},
		{
			source: carvel + ", prereleases: {}", text: ">=1.0.0", prereleases: prereleases(),
			matching: "1.0.0 1.1.0-rc.1 1.1.0-beta", excluded: "1.0.0-rc.1 0.9.0",
		},
		{
			source: carvel + ", prereleases.identifiers", text: ">=1.0.0", prereleases: prereleases("beta", "rc"),
			matching: "1.0.0 1.1.0-rc.1 1.1.0-beta.3 1.1.0-x.rc", excluded: "1.1.0-alpha.1 1.1.0-1",
		},
		{source: carvel + ", no prereleases", text: ">=1.0.0", matching: "1.1.0", excluded: "1.1.0-rc.1"},
		{source: kudo + ", operatorVersion", text: "0.3.0", matching: "0.3.0", excluded: "0.3.1"},
		{source: design, text: ">= 0.6.0 < 1.0.0", matching: "0.6.0 0.9.9", excluded: "1.0.0 0.5.9"},
		{source: design, text: "*", matching: "0.0.1 1.0.0 1.0.0-rc.1"},
		{source: masters, text: ">= 1.2, < 3.0.0 || >= 4.2.3", matching: "1.2.0 2.9.9 4.2.3", excluded: "3.0.0 4.2.2"},
		{source: masters, text: "1.2 - 1.4.5", matching: "1.2.0 1.4.5", excluded: "1.4.6 1.1.9"},
		{source: masters, text: "2.3.4 - 4.5", matching: "2.3.4 4.5.9", excluded: "4.6.0"},
		{source: masters, text: "1.2.x", matching: "1.2.0 1.2.9", excluded: "1.3.0"},
		{source: masters, text: "<= 2.x", matching: "2.9.9 1.0.0", excluded: "3.0.0"},
		{source: masters, text: "~1.2.3", matching: "1.2.3 1.2.9", excluded: "1.3.0"},
		{source: masters, text: "~1", matching: "1.0.0 1.9.0", excluded: "2.0.0"},
		{source: masters, text: "^1.2.3", matching: "1.2.3 1.9.0", excluded: "2.0.0"},
		{source: masters, text: "^0.2.3", matching: "0.2.3 0.2.9", excluded: "0.3.0"},
		{source: masters, text: "!= 1.4.2", matching: "1.4.1 1.4.3", excluded: "1.4.2"},
		{
			source: masters + ", a range that names a prerelease takes them", text: ">= 1.2.3-beta.1",
			matching: "1.2.3-beta.2 1.3.0-rc.1 1.3.0", excluded: "1.2.3-alpha",
		},
		{source: "an exact build", text: "5.0.0+a", matching: "5.0.0+a v5.0.0+a", excluded: "5.0.0+b 5.0.0 5.0.1+a"},
		{source: "an exact build, with =", text: "= v5.0.0+a", matching: "5.0.0+a", excluded: "5.0.0+b"},
		{source: "an exact build of a prerelease", text: "5.0.0-rc.1+a", matching: "5.0.0-rc.1+a", excluded: "5.0.0-rc.1 5.0.0-rc.1+b"},
		{source: "one of two builds", text: "5.0.0+a || 5.0.0+b", matching: "5.0.0+a 5.0.0+b", excluded: "5.0.0+c"},
		{source: "a build or a range", text: "5.0.0+a || >= 6", matching: "5.0.0+a 6.0.0+x", excluded: "5.0.0+b"},
		{source: "a build, and a bound", text: "5.0.0+a, < 6", matching: "5.0.0+a", excluded: "5.0.0+b 5.0.0 4.0.0"},
		{source: "a bound, and a build", text: ">= 4, 5.0.0+a", matching: "5.0.0+a", excluded: "5.0.0+b 5.0.0"},
		{source: "a build, and a bound after a blank", text: "5.0.0+a >=5", matching: "5.0.0+a", excluded: "5.0.0+b"},
		{source: "the same build twice", text: "5.0.0+a, =v5.0.0+a", matching: "5.0.0+a", excluded: "5.0.0+b"},
		{source: "two builds at once", text: "5.0.0+a 5.0.0+b", excluded: "5.0.0+a 5.0.0+b 5.0.0"},
		{source: "a build outside of a bound", text: "5.0.0+a, > 5", excluded: "5.0.0+a 5.0.0+b"},
		{source: "a build, and a hyphen range", text: "4.0.0 - 6.0.0 5.0.0+a", matching: "5.0.0+a", excluded: "5.0.0+b 4.0.0"},
		{source: "a bounded build or a range", text: ">= 6 || 5.0.0+a, < 6", matching: "5.0.0+a 6.0.0+x", excluded: "5.0.0+b"},
		{source: "a bounded build of a prerelease", text: "5.0.0-rc.1+a, < 6", matching: "5.0.0-rc.1+a", excluded: "5.0.0-rc.1+b"},
		{source: "comparisons ignore builds", text: ">= 5.0.0", matching: "5.0.0+a 5.0.0"},
		{source: "an exact version accepts any build", text: "5.0.0", matching: "5.0.0+a 5.0.0"},
	}
	for _, tc := range cases {
		t.Run(tc.source+" "+tc.text, func(t *testing.T) {
			r, err := ParseRange(tc.text, tc.prereleases)
			if err != nil {
				t.Fatal(err)
			}
			for want, versions := range map[bool]string{true: tc.matching, false: tc.excluded} {
				for version := range strings.FieldsSeq(versions) {
					parsed, err := semver.NewVersion(version)
					if err != nil {
						t.Fatal(err)
					}
					if reason := r.Mismatch(parsed); (reason == "") != want {
						t.Errorf("%s in %q: want %t, got %q", version, tc.text, want, reason)
					}
				}
			}
		})
	}
}

func TestRangesRefused(t *testing.T) {
	for reason, text := range map[string]string{
		"Helm refuses a chart without a version: improper constraint": "",
		"blanks are no range":       "  ",
		"words are no range":        "latest",
		"a number in words":         ">= four",
		"half of a range":           ">= 1.0 <",
		"Deckhouse's own mark":      ">v0.22.1 !optional",
		"two operators":             ">> 1.0",
		"an operator of few":        "== 1.0",
		"a Go module's comparison":  "@latest",
		"more than three numbers":   "1.2.3.4",
		"a range of the npm kind":   "1.0.0 || latest",
		"a number beyond any count": ">= 99999999999999999999999999",
	} {
		if r, err := ParseRange(text, nil); err == nil {
			t.Errorf("%s: %q is taken for %s", reason, text, r.constraints)
		}
	}
}

func TestPrereleasesAreNamedAsTheReason(t *testing.T) {
	r, err := ParseRange(">= 1.0", nil)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{
		"1.1.0": "", "1.1.0-rc.1": "prereleases are not accepted", "0.9.0": DoesNotMatch, "0.9.0-rc.1": DoesNotMatch,
	} {
		if got := r.Mismatch(semver.MustParse(version)); got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
	}
}

func TestRunningVersion(t *testing.T) {
	annotated := func(current, former string) Annotated {
		return Annotated{Current: current, Former: former}
	}
	former := func(former string) Annotated { return Annotated{Former: former} }
	template := func(running, rollingOut string) Templates {
		return Templates{Running: running, RollingOut: rollingOut}
	}
	for name, tc := range map[string]struct {
		sources Sources
		want    Version
	}{
		"Lease": {
			Sources{Lease: annotated("1", "5"), AddOn: annotated("3", "6"), Registration: annotated("4", "7"), Template: template("2", "9")},
			Version{Number: "1", Source: FromLease},
		},
		"Template": {
			Sources{Lease: former("5"), AddOn: annotated("3", "6"), Registration: annotated("4", "7"), Template: template("2", "")},
			Version{Number: "2", Source: FromTemplate},
		},
		"TemplateDuringARollout": {
			Sources{AddOn: annotated("3", ""), Template: template("2", "9")},
			Version{Number: "2", Source: FromTemplate, RollingOut: "9"},
		},
		"TemplateOfTheSameVersion": {
			Sources{Template: template("2", " 2 ")}, Version{Number: "2", Source: FromTemplate},
		},
		"TemplateWithoutAVersion": {
			Sources{AddOn: annotated("3", ""), Template: template("", "9")}, Version{Number: "3", Source: FromAddOn},
		},
		"AddOn": {
			Sources{Lease: former("5"), AddOn: annotated("3", "6"), Registration: annotated("4", "7")},
			Version{Number: "3", Source: FromAddOn},
		},
		"Registration": {
			Sources{Lease: former("5"), AddOn: former("6"), Registration: annotated("4", "7")},
			Version{Number: "4", Source: FromRegistration},
		},
		"FormerKeyOfLease": {
			Sources{Lease: former("5"), AddOn: former("6"), Registration: former("7")},
			Version{Number: "5", Source: FromLease, Former: true},
		},
		"FormerKeyOfAddOn": {
			Sources{AddOn: former("6"), Registration: former("7")}, Version{Number: "6", Source: FromAddOn, Former: true},
		},
		"FormerKeyOfRegistration": {
			Sources{Registration: former("7")}, Version{Number: "7", Source: FromRegistration, Former: true},
		},
		"Blank": {
			Sources{Lease: annotated(" ", ""), AddOn: annotated("\t", ""), Registration: annotated(" v3\n", ""), Template: template(" ", "")},
			Version{Number: "v3", Source: FromRegistration},
		},
		"OCM": {
			Sources{Registration: annotated(" @ocm ", ""), OCM: "1.3.1"}, Version{Number: "1.3.1", Source: FromRegistration, OCM: true},
		},
		"OCMNotKnown": {Sources{Template: template("@ocm", "")}, Version{Source: FromTemplate, OCM: true}},
		"OCMIsRolledOut": {
			Sources{Template: template("1.2.0", "@ocm"), OCM: "1.3.1"},
			Version{Number: "1.2.0", Source: FromTemplate, RollingOut: "1.3.1"},
		},
		"None": {want: Version{}},
	} {
		if got := Running(tc.sources); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
		if got, want := tc.sources.UseOCM(), strings.HasPrefix(name, "OCM"); got != want {
			t.Errorf("%s: uses the version of OCM: %t, want %t", name, got, want)
		}
	}
}

func TestTemplateVersion(t *testing.T) {
	const (
		annotation, label = addonv1alpha1.AddOnVersionAnnotation, addonv1alpha1.TemplateVersionLabel
		former            = addonv1alpha1.FormerVersionAnnotation
	)
	for name, tc := range map[string]struct {
		annotations, labels map[string]string
		want                string
	}{
		"Annotation": {map[string]string{annotation: "1"}, map[string]string{label: "2"}, "1"},
		"Label":      {map[string]string{annotation: " "}, map[string]string{label: "2"}, "2"},
		"FormerKey":  {map[string]string{former: "1"}, nil, ""},
		"None":       {nil, nil, ""},
	} {
		if got := OfTemplate(tc.annotations, tc.labels); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestPlatformVersions(t *testing.T) {
	for reported, want := range map[string]string{
		"v1.31.2":                     "1.31.2",
		"v1.31.2-gke.100":             "1.31.2",
		"v1.31.2-gke.0100":            "1.31.2",
		"v1.30.4+k3s1":                "1.30.4",
		"v1.30.4-rc1+k3s1":            "1.30.4",
		"v1.29.8-eks-a737599":         "1.29.8",
		"v1.27.6+f67aeb3":             "1.27.6",
		"v1.28.3-vmware.1":            "1.28.3",
		"v1.32.0-rc.1":                "1.32.0-rc.1",
		"v1.32.0-rc.1+k3s1":           "1.32.0-rc.1",
		"v1.32.0-rc.1-gke.3":          "1.32.0-rc.1",
		"v1.32.0-alpha.0.123+abcdef0": "1.32.0-alpha.0",
		"v1.32.0-beta.2":              "1.32.0-beta.2",
		"1.27":                        "1.27.0",
		"v1.28+":                      "1.28.0",
		"v1.31.2\n":                   "1.31.2",
	} {
		got, err := ParsePlatform(reported)
		if err != nil || got.String() != want {
			t.Errorf("%q: got %v, want %s; error %v", reported, got, want, err)
		}
	}
	for _, reported := range []string{"", "v", "latest", "1", "v1.x", "99999999999.1.1"} {
		if got, err := ParsePlatform(reported); err == nil {
			t.Errorf("%q is taken for %s", reported, got)
		}
	}
}

func FuzzRange(f *testing.F) {
	for _, seed := range []string{">= 1.0", "~>1.0.0", "1.2 - 1.4.5 || ^2", "*", "!= 1.x", "=v0.22.1", "1.0.0-rc.1", "x", ",", "||", "- -"} {
		f.Add(seed, "v1.2.3-rc.1+k3s1", "rc")
	}
	f.Fuzz(func(t *testing.T, text, version, identifier string) {
		platformVersion, platformErr := ParsePlatform(version)
		if platformErr == nil && platformVersion.Prerelease() != "" &&
			!platformPrerelease.MatchString("-"+platformVersion.Prerelease()) {
			t.Errorf("%q: %s has a vendor's suffix", version, platformVersion)
		}
		strict, err := ParseRange(text, nil)
		if err != nil {
			return
		}
		open, err := ParseRange(text, prereleases(identifier))
		if err != nil {
			t.Fatalf("%q: only without prereleases is it a range", text)
		}
		parsed, err := semver.NewVersion(version)
		if err != nil {
			return
		}
		for _, r := range []*Range{strict, open} {
			if first, second := r.Mismatch(parsed), r.Mismatch(parsed); first != second || r.AcceptsAll() && first != "" {
				t.Errorf("%q in %q: %q, then %q", version, text, first, second)
			}
		}
		if strict.Mismatch(parsed) == "" && parsed.Prerelease() == "" && open.Mismatch(parsed) != "" {
			t.Errorf("%q: release %s only matches without prereleases", text, parsed)
		}
	})
}

func TestAcceptsEveryRelease(t *testing.T) {
	for text, want := range map[string]bool{
		">= 0.0.0": true, ">=0": true, ">= v0.0": true, "x": true, ">= 0.0.0-0": true, "< 2 || >= 2": true, "<= 1 || > 1": true,
		"*": false, "> 0.0.0": false, ">= 0.0.1": false, "< 2": false, "!= 1.2.3": false, "^1": false, "0.x": false, "< 2 || > 2.0.0": false,
	} {
		accepted, err := ParseRange(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if accepted.AcceptsEveryRelease() != want {
			t.Errorf("%s: not %t", text, want)
		}
	}
	if (*Range)(nil).AcceptsEveryRelease() {
		t.Error("no range is one")
	}
}

func TestExcludes(t *testing.T) {
	for _, test := range []struct {
		first, second string
		want          bool
		reason        string
	}{
		{">= 2", "< 2", true, "they meet, and share nothing"},
		{">= 2", "<= 2.0.0", false, "they share one version"},
		{"> 1.2.3", "< 1.2.4", true, "there is no release between them"},
		{"> 1.2.3", "< 1.2.5", false, "1.2.4"},
		{"^1.2", "~1.9.4", false, "one is in the other"},
		{"^1", "^2", true, "majors"},
		{"~1.2", "~1.3", true, "minors"},
		{"1.2.x", ">= 1.2.9", false, "the patch is free"},
		{"1.x || 3.x", ">= 2 < 3", true, "it is in the gap"},
		{"1.x || 3.x", ">= 2", false, "the second part"},
		{"1.0 - 1.5", "> 1.5", true, "the end belongs to it"},
		{"!= 1.2.3", "1.2.3", true, "but this one"},
		{"!= 1.2.3 != 1.2.4", ">= 1.2.3 < 1.2.5", true, "one after the other"},
		{"!= 1.2.3 != 1.2.4", ">= 1.2.3 < 1.2.6", false, "1.2.5"},
		{"!= 1.2.x", ">= 1.2 < 1.3", true, "a whole minor"},
		{"< 0.0.1", "0.0.0", false, "the first of all"},
		{"*", "1.2.3", false, "any"},
		{">= 2.0.0-beta", "< 2.0.0-rc", false, "prereleases may be in both: not decided"},
		{"5.0.0+a", "5.0.0+b", true, "one build is not another"},
		{"5.0.0+a", "5.0.0+a", false, "one build"},
		{"5.0.0+a || ^4", ">= 5", false, "the build"},
		{"5.0.0+a", "5.0.0", false, "the second range accepts any build"},
		{">= 2.0.0-beta", "< 2.0.0", true, "releases alone decide, and there is none"},
	} {
		first, err := ParseRange(test.first, nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := ParseRange(test.second, nil)
		if err != nil {
			t.Fatal(err)
		}
		if first.Excludes(second) != test.want || second.Excludes(first) != test.want {
			t.Errorf("%s and %s: not %t, though %s", test.first, test.second, test.want, test.reason)
		}
	}
}
