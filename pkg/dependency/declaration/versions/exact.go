package versions

import (
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// ExactVersions returns the versions that a range names exactly: "1.2.3-rc.1 || >= 2" names one.
func ExactVersions(text string) []*semver.Version {
	var exact []*semver.Version
	for alternative := range strings.SplitSeq(text, "||") {
		for _, term := range termsOf(alternative) {
			if version := term.exact(); version != nil {
				exact = append(exact, version)
			}
		}
	}
	return exact
}

// term is a part of an alternative, which a version has to match together with its other terms.
type term struct {
	operator, version string
	// isBound is true for an end of a hyphen range such as "1.2 - 1.4".
	isBound bool
}

// termPattern matches a term, or the hyphen of a hyphen range.
var termPattern = regexp.MustCompile(`([<>=!~^]*)\s*([^\s,<>=!~^]+)`)

// hyphen is the operator between the ends of a hyphen range.
const hyphen = "-"

// termsOf returns the terms of an alternative of a valid range.
func termsOf(alternative string) []term {
	matches := termPattern.FindAllStringSubmatch(alternative, -1)
	isHyphen := func(i int) bool { return i >= 0 && i < len(matches) && matches[i][2] == hyphen }
	var terms []term
	for i, match := range matches {
		if !isHyphen(i) {
			terms = append(terms, term{operator: match[1], version: match[2], isBound: isHyphen(i-1) || isHyphen(i+1)})
		}
	}
	return terms
}

// text returns the term as its author may have written it.
func (t term) text() string { return t.operator + t.version }

// compares reports whether the term compares a version, instead of naming it.
func (t term) compares() bool { return t.isBound || t.operator != "" && t.operator != "=" }

// exact returns the version that the term names exactly, or nil.
func (t term) exact() *semver.Version {
	if t.compares() {
		return nil
	}
	version, err := semver.StrictNewVersion(strings.TrimPrefix(t.version, "v"))
	if err != nil {
		return nil
	}
	return version
}
