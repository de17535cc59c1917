package versions

import (
	"cmp"
	"slices"

	"github.com/Masterminds/semver/v3"
)

// Lowest returns the lowest release that is in all ranges, and is named in one of them or follows such a release in one of its three
// numbers. It returns nil if no release is in all ranges.
func Lowest(ranges ...*Range) *semver.Version {
	var releases []*semver.Version
	for _, r := range ranges {
		if r.everything {
			continue
		}
		releases = slices.Concat(releases, candidates(r.constraints.String()), r.builds())
	}
	releases = slices.DeleteFunc(releases, func(release *semver.Version) bool { return !InAll(release, ranges) })
	if len(releases) == 0 {
		return nil
	}
	return slices.MinFunc(releases, func(a, b *semver.Version) int { return cmp.Compare(a.Compare(b), 0) })
}

// InAll reports whether a version is in all ranges.
func InAll(version *semver.Version, ranges []*Range) bool {
	return !slices.ContainsFunc(ranges, func(r *Range) bool { return r.Mismatch(version) != "" })
}
