package versions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// alternative is a part of a range between two "||".
type alternative struct {
	constraints *semver.Constraints
	// builds are the exact versions with build metadata among the terms, such as 5.0.0+a. Each means this build only: comparisons ignore
	// build metadata, as semantic versioning says, and an exact version is a name.
	builds []*semver.Version
}

// checkBuilds returns an error for a valid range with build metadata that cannot be meant.
func checkBuilds(text string) error {
	if !strings.Contains(text, "+") { // most ranges have none, and an index has many ranges
		return nil
	}
	for part := range strings.SplitSeq(text, "||") {
		for _, term := range termsOf(part) {
			version, build, hasBuild := strings.Cut(term.version, "+")
			switch {
			case !hasBuild:
			case term.compares():
				return fmt.Errorf(`%q compares with a build, and comparisons ignore builds: write %q for exactly this build, or leave out "+%s"`,
					term.text(), term.version, build)
			case term.exact() == nil:
				return fmt.Errorf(`%q names a build, but no exact version: write three numbers, such as "5.0.0+%s", or %q for any build`,
					term.text(), build, version)
			}
		}
	}
	return nil
}

// buildAlternatives returns the alternatives of a range. It returns nil if none of them names a build.
func buildAlternatives(text string, includePrereleases bool) []alternative {
	if !strings.Contains(text, "+") {
		return nil
	}
	var alternatives []alternative
	for part := range strings.SplitSeq(text, "||") {
		constraints, err := semver.NewConstraint(part)
		if err != nil {
			return nil
		}
		constraints.IncludePrerelease = includePrereleases
		isNoBuild := func(version *semver.Version) bool { return version.Metadata() == "" }
		alternatives = append(alternatives, alternative{constraints, slices.DeleteFunc(ExactVersions(part), isNoBuild)})
	}
	return alternatives
}

// accepts reports whether the alternative accepts a version with its build metadata.
func (a alternative) accepts(version *semver.Version) bool {
	return a.constraints.Check(version) && !slices.ContainsFunc(a.builds, func(build *semver.Version) bool {
		return !build.Equal(version) || build.Metadata() != version.Metadata()
	})
}

// acceptsBuild reports whether the range accepts the build metadata of a version.
func (r *Range) acceptsBuild(version *semver.Version) bool {
	return r.alternatives == nil || slices.ContainsFunc(r.alternatives, func(a alternative) bool { return a.accepts(version) })
}

// builds returns the builds that the range names.
func (r *Range) builds() []*semver.Version {
	var builds []*semver.Version
	for _, alternative := range r.alternatives {
		builds = append(builds, alternative.builds...)
	}
	return builds
}
