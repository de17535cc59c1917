package expression

import (
	"strings"
	"testing"
)

func TestFunctionsOnVersions(t *testing.T) {
	for _, test := range []struct {
		expression, version string
		want                bool
		err                 string
	}{
		{expression: "isSemver(addOn.version)", version: "v1.2.3", want: true},
		{expression: "isSemver(addOn.version)", version: "1.2", want: true},
		{expression: "isSemver(addOn.version)", version: ""},
		{expression: "isSemver(addOn.version)", version: strings.Repeat("1", 1000)},
		{expression: "addOn.version.semverMatches('>= 1.2 < 2.0')", version: "1.9.0", want: true},
		{expression: "addOn.version.semverMatches('>= 1.2 < 2.0')", version: "2.0.0"},
		{expression: "addOn.version.semverMatches('*')", version: "2.0.0", want: true},
		{expression: "addOn.version.semverMatches('*')", version: "new", err: `"new" is no semantic version`},
		{expression: "addOn.version.semverMatches(cluster.name)", version: "1.0.0", err: `range "new"`},
		{expression: "addOn.version.semverMatches(cluster.name + config.long)", version: "1.0.0", err: "a range has at most 256 characters"},
		{expression: "addOn.version.semverCompare('1.9.0') > 0", version: "1.10.0", want: true},
		{expression: "addOn.version.semverCompare('1.9.0') == 0", version: "v1.9.0", want: true},
		{expression: "addOn.version.semverCompare('1.9.0') < 0", version: "1.9.0-rc.1", want: true},
		{expression: "addOn.version.semverCompare('x') < 0", version: "1.0.0", err: `"x" is no semantic version`},
	} {
		compiled, err := Compile(test.expression)
		if err != nil {
			t.Fatalf("%s: %v", test.expression, err)
		}
		got, _, err := compiled.Evaluate(Variables{
			Cluster: Cluster{Name: "new"}, AddOn: AddOn{Name: "x", Version: test.version},
			Config: map[string]string{"long": strings.Repeat(" ", 256)},
		})
		if test.err == "" && (err != nil || got != test.want) || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%s with %.10s: %t, error %v", test.expression, test.version, got, err)
		}
	}
}

func TestRangesThatAreWrittenOutAreChecked(t *testing.T) {
	for _, wrong := range []string{"new", "", ">= 1 and 2", strings.Repeat(" ", 257)} {
		if _, err := Compile("addOn.version.semverMatches('" + wrong + "')"); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
