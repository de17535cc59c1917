package versions

import (
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
)

func TestWildcardsThatCannotBeMeant(t *testing.T) {
	for text, want := range map[string]string{
		"^*": `write "*" for any version`, "^x": `"^x" compares`, ">*": `">*" compares`, "!=*": `"!=*" compares`, "<= X": `"<= X" compares`,
		"~> x": `"~> x" compares`, "=> *": `"=> *" compares`, ">= v*": `">= v*" compares`, ">= 1 || < *": `"< *" compares`,
		"*.1": `"*.1" has a number after a wildcard`, ">= 1.x.3": `"1.x.3" has a number after a wildcard`, "v1.*.3": `write "1.2.x"`,
		"1.x || x.1.1": `"x.1.1" has a number`,
		"*":            "", "x": "", "= *": "", "1.x": "", ">= 1.x": "", "!= 1.2.*": "", "^1.x.x": "", "1.0.0-x.1": "", ">= 1.0.0-x.1 < 2": "",
	} {
		_, err := ParseRange(text, nil)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// What is found out about ranges without a version agrees with the versions that they match.
func TestRangesAgreeWithTheVersionsTheyMatch(t *testing.T) {
	var releases []*semver.Version
	for number := range uint64(5 * 5 * 5) {
		releases = append(releases, semver.New(number/25, number/5%5, number%5, "", ""))
	}
	var ranges []*Range
	var texts []string
	for _, operator := range []string{"", "!=", ">", ">=", "<", "=<", "~", "^"} {
		for _, version := range strings.Fields("x 0 1 0.x 1.* 0.0.x 0.1.x 1.2.x 1.x.x 0.0.0 0.0.1 1.2.3 1.2 0.1") {
			if r, err := ParseRange(operator+version, nil); err == nil && !r.everything {
				ranges, texts = append(ranges, r), append(texts, operator+version)
			}
		}
	}
	matches := make([][]bool, len(ranges))
	for i, r := range ranges {
		for _, release := range releases {
			matches[i] = append(matches[i], r.Mismatch(release) == "")
		}
	}
	for i, r := range ranges {
		if every := !slices.Contains(matches[i], false); r.AcceptsEveryRelease() != every {
			t.Errorf("%s: accepts every release: %t", texts[i], every)
		}
		for j, second := range ranges[:i] {
			excludes := true
			for k := range releases {
				excludes = excludes && (!matches[i][k] || !matches[j][k])
			}
			if r.Excludes(second) != excludes {
				t.Errorf("%s and %s: exclude each other: %t", texts[i], texts[j], excludes)
			}
		}
	}
	if len(ranges) < 100 {
		t.Errorf("only %d ranges", len(ranges))
	}
}
