package versions

import (
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
)

func TestParseRelease(t *testing.T) {
	const noVersion = "must be a semantic version such as 1.2.3"
	for version, want := range map[string]string{
		"1.0.0": "", "v1.2.3-rc.1+build.5": "", "18446744073709551615.0.0": "",
		"latest": noVersion, "1.10": noVersion, "2024-01-01": noVersion, "": noVersion, "1.0.0\u202e": noVersion, "../1.0.0": noVersion,
		"01.0.0": noVersion, "vv1.0.0": noVersion, "@ocm": noVersion,
		"99999999999999999999999.0.0":       "a number is too large: the largest is 18446744073709551615",
		"1.0.18446744073709551616":          "a number is too large",
		"1.0.0+" + strings.Repeat("a", 250): "must have at most 250 characters",
	} {
		_, err := ParseRelease(version)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", version, err, want)
		}
	}
}

func TestIsSame(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"v1.0.0", "1.0.0"}: true, {"1.0.0-rc.1+a", "v1.0.0-rc.1+a"}: true, {"1.0.0+a", "1.0.0+b"}: false, {"1.0.0", "1.0.1"}: false,
	} {
		if got := IsSame(semver.MustParse(pair[0]), semver.MustParse(pair[1])); got != want {
			t.Errorf("%v: %t", pair, got)
		}
	}
}
