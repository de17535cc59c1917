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

// Every form of a range that the documents of other systems show. The source
// of each is named with it.
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
		yes, no      string // versions, separated by blanks
	}{
		{deckhouse + ", platform", ">= 1.61", nil, "1.61.0 v1.61.0 1.73.3 2.0.0", "1.0.0 1.60.9 1.61.0-rc.1"},
		{deckhouse + ", ModuleRelease test-v0.8.3", "> v1.64.0", nil, "v1.64.1 1.65.0", "1.0.0 v1.64.0"},
		{deckhouse + ", DeckhouseRelease v1.73.4", "< v1.73.4", nil, "v1.73.3", "v1.73.4"},
		{deckhouse + ", Kubernetes", ">= 1.28", nil, "1.28 1.28.0 1.29.6", "1.27 1.27.3"},
		{deckhouse + ", ModuleRelease test-v0.8.2", "> 1.29", nil, "1.30.0", "1.29.0 1.29.6"},
		{deckhouse + ", user-authn", ">= 0.0.0", nil, "0.0.0 0.0.1 1.2.3", ""},
		{deckhouse + ", ingress-nginx", "> 1.67.0", nil, "1.67.1", "1.67.0"},
		{deckhouse + ", operator-trivy", "> v1.64.0", nil, "1.64.1", "1.64.0"},
		{deckhouse + ", !optional, in our words", ">v0.22.1", nil, "v0.22.2 v0.23.1", "v0.21.1 v0.22.1"},
		{deckhouse + ", =v0.22.1 !optional, in our words", "=v0.22.1", nil, "v0.22.1", "0.23.1 0.21.1"},
		{helm + ", chart b", "1.0.0", nil, "1.0.0 v1.0.0", "1.0.1 0.9.9"},
		{helm + ", postgresql", "6.3.2", nil, "6.3.2", "6.3.3"},
		{carvel + ", dep1", "~>1.0.0", nil, "1.0.0 1.0.7", "1.1.0 0.9.0"},
		{carvel + ", dep3", "0.1.0", nil, "0.1.0", "0.2.0"},
		{carvel + ", dep4", "0.2.0", nil, "0.2.0", "0.1.0"},
		{carvel + ", override", "1.0.1", nil, "1.0.1", "0.1.1"},
		{carvel + ", high version", ">4.0.0", nil, "4.0.1", "4.0.0 1.0.0"},
		{carvel + ", prereleases: {}", ">=1.0.0", prereleases(), "1.0.0 1.1.0-rc.1 1.1.0-beta", "1.0.0-rc.1 0.9.0"},
		{carvel + ", prereleases.identifiers", ">=1.0.0", prereleases("beta", "rc"), "1.0.0 1.1.0-rc.1 1.1.0-beta.3 1.1.0-x.rc", "1.1.0-alpha.1 1.1.0-1"},
		{carvel + ", no prereleases", ">=1.0.0", nil, "1.1.0", "1.1.0-rc.1"},
		{kudo + ", operatorVersion", "0.3.0", nil, "0.3.0", "0.3.1"},
		{design, ">= 0.6.0 < 1.0.0", nil, "0.6.0 0.9.9", "1.0.0 0.5.9"},
		{design, "*", nil, "0.0.1 1.0.0 1.0.0-rc.1", ""},
		{masters, ">= 1.2, < 3.0.0 || >= 4.2.3", nil, "1.2.0 2.9.9 4.2.3", "3.0.0 4.2.2"},
		{masters, "1.2 - 1.4.5", nil, "1.2.0 1.4.5", "1.4.6 1.1.9"},
		{masters, "2.3.4 - 4.5", nil, "2.3.4 4.5.9", "4.6.0"},
		{masters, "1.2.x", nil, "1.2.0 1.2.9", "1.3.0"},
		{masters, "<= 2.x", nil, "2.9.9 1.0.0", "3.0.0"},
		{masters, "~1.2.3", nil, "1.2.3 1.2.9", "1.3.0"},
		{masters, "~1", nil, "1.0.0 1.9.0", "2.0.0"},
		{masters, "^1.2.3", nil, "1.2.3 1.9.0", "2.0.0"},
		{masters, "^0.2.3", nil, "0.2.3 0.2.9", "0.3.0"},
		{masters, "!= 1.4.2", nil, "1.4.1 1.4.3", "1.4.2"},
		{masters + ", a range that names a prerelease takes them", ">= 1.2.3-beta.1", nil, "1.2.3-beta.2 1.3.0-rc.1 1.3.0", "1.2.3-alpha"},
	}
	for _, tc := range cases {
		t.Run(tc.source+" "+tc.text, func(t *testing.T) {
			r, err := ParseRange(tc.text, tc.prereleases)
			if err != nil {
				t.Fatal(err)
			}
			for want, versions := range map[bool]string{true: tc.yes, false: tc.no} {
				for version := range strings.FieldsSeq(versions) {
					parsed, err := semver.NewVersion(version)
					if err != nil {
						t.Fatal(err)
					}
					if because := r.Mismatch(parsed); (because == "") != want {
						t.Errorf("%s in %q: want %t, got %q", version, tc.text, want, because)
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
	both := func(current, former string) Annotated {
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
			Sources{both("1", "5"), both("3", "6"), both("4", "7"), template("2", "9")},
			Version{Number: "1", Source: FromLease},
		},
		"Template": {
			Sources{former("5"), both("3", "6"), both("4", "7"), template("2", "")},
			Version{Number: "2", Source: FromTemplate},
		},
		"TemplateDuringARollout": {
			Sources{AddOn: both("3", ""), Template: template("2", "9")},
			Version{Number: "2", Source: FromTemplate, RollingOut: "9"},
		},
		"TemplateOfTheSameVersion": {
			Sources{Template: template("2", " 2 ")}, Version{Number: "2", Source: FromTemplate},
		},
		"TemplateWithoutAVersion": {
			Sources{AddOn: both("3", ""), Template: template("", "9")}, Version{Number: "3", Source: FromAddOn},
		},
		"AddOn": {
			Sources{Lease: former("5"), AddOn: both("3", "6"), Registration: both("4", "7")},
			Version{Number: "3", Source: FromAddOn},
		},
		"Registration": {
			Sources{Lease: former("5"), AddOn: former("6"), Registration: both("4", "7")},
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
			Sources{both(" ", ""), both("\t", ""), both(" v3\n", ""), template(" ", "")},
			Version{Number: "v3", Source: FromRegistration},
		},
		"None": {want: Version{}},
	} {
		if got := Running(tc.sources); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestTemplateVersion(t *testing.T) {
	annotation, label, former := addonv1alpha1.AddOnVersionAnnotation, addonv1alpha1.TemplateVersionLabel, addonv1alpha1.FormerVersionAnnotation
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
		if parsed, err := ParsePlatform(version); err == nil && parsed.Prerelease() != "" && !platformPrerelease.MatchString("-"+parsed.Prerelease()) {
			t.Errorf("%q: %s has a vendor's suffix", version, parsed)
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
