package versions

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// alternative is a part of a range between two "||".
type alternative struct {
	constraints *semver.Constraints
	// build is set if the alternative is an exact version with build metadata, such as 5.0.0+a. Then it means this build only.
	// Comparisons ignore build metadata, as semantic versioning says, and an exact version is a name.
	build *semver.Version
}

// buildAlternatives returns the alternatives of a range. It returns nil if none of them names a build.
func buildAlternatives(text string, includePrereleases bool) []alternative {
	if !strings.Contains(text, "+") {
		return nil
	}
	var alternatives []alternative
	namesBuild := false
	for part := range strings.SplitSeq(text, "||") {
		constraints, err := semver.NewConstraint(part)
		if err != nil {
			return nil
		}
		constraints.IncludePrerelease = includePrereleases
		build := exactBuild(part)
		namesBuild = namesBuild || build != nil
		alternatives = append(alternatives, alternative{constraints, build})
	}
	if !namesBuild {
		return nil
	}
	return alternatives
}

// exactBuild returns the version of a range that is an exact version with build metadata, or nil.
func exactBuild(text string) *semver.Version {
	if version := exactVersion(text); version != nil && version.Metadata() != "" {
		return version
	}
	return nil
}

// acceptsBuild reports whether the range accepts the build metadata of a version.
func (r *Range) acceptsBuild(version *semver.Version) bool {
	if r.alternatives == nil {
		return true
	}
	for _, alternative := range r.alternatives {
		switch build := alternative.build; {
		case build == nil && alternative.constraints.Check(version):
			return true
		case build != nil && build.Equal(version) && build.Metadata() == version.Metadata():
			return true
		}
	}
	return false
}

// builds returns the builds that the range names.
func (r *Range) builds() []*semver.Version {
	var builds []*semver.Version
	for _, alternative := range r.alternatives {
		if alternative.build != nil {
			builds = append(builds, alternative.build)
		}
	}
	return builds
}
