package versions

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Any is the range that accepts every version, even an unknown version.
const Any = "*"

// DoesNotMatch is the usual reason for a version outside of a range.
const DoesNotMatch = "does not match"

// Range is a compiled range of versions.
type Range struct {
	constraints *semver.Constraints
	// prereleases is true if prereleases are accepted. If there are identifiers, a prerelease needs one of them.
	prereleases bool
	identifiers []string
	// alternatives are set if one of them names an exact version with build metadata.
	alternatives []alternative
	// everything is true for the range Any.
	everything bool
	// next is a second range that a version has to match. It may be nil.
	next *Range
}

// errRange explains an invalid range. The error of the library only repeats the range.
var errRange = errors.New(`must be a range of semantic versions, such as ">= 1.2 < 2.0", "^1.2" or "1.2.x || 1.4.x"`)

// ParseRange reads a range. If prereleases is nil, only releases match, unless the
// range itself names a prerelease.
func ParseRange(text string, prereleases *addonv1alpha1.DependencyPrereleases) (*Range, error) {
	if strings.TrimSpace(text) == Any {
		return &Range{everything: true}, nil
	}
	constraints, err := semver.NewConstraint(text)
	if err != nil || strings.TrimSpace(text) == "" {
		return nil, errRange
	}
	if err := checkWildcards(text); err != nil {
		return nil, err
	}
	if err := checkBuilds(text); err != nil {
		return nil, err
	}
	r := &Range{constraints: constraints}
	if prereleases != nil {
		r.prereleases, r.identifiers = true, prereleases.Identifiers
		constraints.IncludePrerelease = true
	}
	r.alternatives = buildAlternatives(text, prereleases != nil)
	return r, nil
}

// And returns the range of the versions that are in both ranges.
func (r *Range) And(second *Range) *Range {
	intersection := *r
	if intersection.next = second; r.next != nil {
		intersection.next = r.next.And(second)
	}
	return &intersection
}

// AcceptsAll reports whether every version matches, even an unknown version.
func (r *Range) AcceptsAll() bool { return r.everything && (r.next == nil || r.next.AcceptsAll()) }

// Mismatch returns the reason for which a version does not match, or an empty string.
func (r *Range) Mismatch(version *semver.Version) string {
	if reason := r.ownMismatch(version); reason != "" || r.next == nil {
		return reason
	}
	return r.next.Mismatch(version)
}

func (r *Range) ownMismatch(version *semver.Version) string {
	if r.everything {
		return ""
	}
	accepts := r.constraints.Check(version)
	switch {
	case accepts && !r.acceptsBuild(version):
		return DoesNotMatch
	case accepts && r.acceptsPrerelease(version):
		return ""
	}
	if version.Prerelease() != "" && r.matchesBut(version) {
		return "prereleases are not accepted"
	}
	return DoesNotMatch
}

// numbersPattern finds the version numbers in a range.
var numbersPattern = regexp.MustCompile(`(\d+)(?:\.(\d+))?(?:\.(\d+))?`)

// Excludes reports whether no version is in both ranges. A nil range accepts any version. The result is
// false if both ranges accept prereleases, because only releases are compared. The least release in both
// ranges is a version in one of the ranges, or follows such a version in one of its three numbers.
func (r *Range) Excludes(second *Range) bool {
	if r == nil || second == nil || r.everything || second.everything || r.mayAcceptPrereleases() && second.mayAcceptPrereleases() {
		return false
	}
	versions := slices.Concat(candidates(r.constraints.String()+" "+second.constraints.String()), r.builds(), second.builds())
	return !slices.ContainsFunc(versions, func(version *semver.Version) bool {
		return r.Mismatch(version) == "" && second.Mismatch(version) == ""
	})
}

// AcceptsEveryRelease reports whether every release matches, but no unknown version, as with ">= 0.0.0".
func (r *Range) AcceptsEveryRelease() bool {
	return r != nil && !r.everything &&
		!slices.ContainsFunc(candidates(r.constraints.String()), func(version *semver.Version) bool { return r.Mismatch(version) != "" })
}

// candidates returns releases that are enough to compare ranges: if any release is in some of the ranges and
// outside of others, this is true of a candidate. Builds are not among them.
func candidates(ranges string) []*semver.Version {
	candidates := []*semver.Version{semver.New(0, 0, 0, "", "")}
	for _, match := range numbersPattern.FindAllStringSubmatch(ranges, -1) {
		var numbers [3]uint64
		for i := range numbers {
			numbers[i], _ = strconv.ParseUint(match[i+1], 10, 64) // a missing number counts as 0
		}
		major, minor, patch := numbers[0], numbers[1], numbers[2]
		candidates = append(candidates, semver.New(major, minor, patch, "", ""),
			semver.New(major, minor, patch+1, "", ""), semver.New(major, minor+1, 0, "", ""), semver.New(major+1, 0, 0, "", ""))
	}
	return candidates
}

// mayAcceptPrereleases reports whether a prerelease can match.
func (r *Range) mayAcceptPrereleases() bool {
	return r.prereleases || strings.Contains(r.constraints.String(), "-")
}

// acceptsPrerelease reports whether the range accepts the identifiers of a prerelease.
func (r *Range) acceptsPrerelease(version *semver.Version) bool {
	if !r.prereleases || len(r.identifiers) == 0 || version.Prerelease() == "" {
		return true
	}
	return slices.ContainsFunc(strings.Split(version.Prerelease(), "."), func(identifier string) bool {
		return slices.Contains(r.identifiers, identifier)
	})
}

// matchesBut reports whether the version would match if prereleases counted.
func (r *Range) matchesBut(version *semver.Version) bool {
	open := *r.constraints
	open.IncludePrerelease = true
	return open.Check(version)
}
