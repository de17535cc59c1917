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

// Any is the range that accepts every version, known or not.
const Any = "*"

// DoesNotMatch is the usual reason for which a version is outside a range.
const DoesNotMatch = "does not match"

// Range is a compiled range of versions.
type Range struct {
	constraints *semver.Constraints
	// prereleases are accepted: all of them, or those with one of identifiers.
	prereleases bool
	identifiers []string
	// everything is accepted, whether known or not.
	everything bool
	// also is what has to accept a version too; nil: nothing.
	also *Range
}

// errRange explains a range that cannot be read; the library only repeats it.
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
	r := &Range{constraints: constraints}
	if prereleases != nil {
		r.prereleases, r.identifiers = true, prereleases.Identifiers
		constraints.IncludePrerelease = true
	}
	return r, nil
}

// And returns the range of the versions that are in both ranges.
func (r *Range) And(other *Range) *Range {
	both := *r
	if both.also = other; r.also != nil {
		both.also = r.also.And(other)
	}
	return &both
}

// AcceptsAll reports whether every version matches, also one that is not known.
func (r *Range) AcceptsAll() bool { return r.everything && (r.also == nil || r.also.AcceptsAll()) }

// Mismatch returns why the version does not match, empty if it does.
func (r *Range) Mismatch(version *semver.Version) string {
	if because := r.ownMismatch(version); because != "" || r.also == nil {
		return because
	}
	return r.also.Mismatch(version)
}

func (r *Range) ownMismatch(version *semver.Version) string {
	if r.everything {
		return ""
	}
	if r.constraints.Check(version) && r.acceptsPrerelease(version) {
		return ""
	}
	if version.Prerelease() != "" && r.matchesBut(version) {
		return "prereleases are not accepted"
	}
	return DoesNotMatch
}

// named finds the numbers that a range names.
var named = regexp.MustCompile(`(\d+)(?:\.(\d+))?(?:\.(\d+))?`)

// Excludes reports whether no version is in both ranges; nil is any version. It only
// decides where one of them accepts releases alone. Among releases, the least version that
// is in both is one that a range names, or comes next in one of the three numbers.
func (r *Range) Excludes(other *Range) bool {
	if r == nil || other == nil || r.everything || other.everything || r.mayAcceptPrereleases() && other.mayAcceptPrereleases() {
		return false
	}
	return !slices.ContainsFunc(candidates(r.constraints.String()+" "+other.constraints.String()), func(version *semver.Version) bool {
		return r.Mismatch(version) == "" && other.Mismatch(version) == ""
	})
}

// AcceptsEveryRelease reports whether every release matches, but no version that is not
// known, as with ">= 0.0.0".
func (r *Range) AcceptsEveryRelease() bool {
	return r != nil && !r.everything &&
		!slices.ContainsFunc(candidates(r.constraints.String()), func(version *semver.Version) bool { return r.Mismatch(version) != "" })
}

// candidates are releases that decide: if any release is in some of the ranges and not in
// others, one of these is too.
func candidates(ranges string) []*semver.Version {
	candidates := []*semver.Version{semver.New(0, 0, 0, "", "")}
	for _, found := range named.FindAllStringSubmatch(ranges, -1) {
		var numbers [3]uint64
		for i := range numbers {
			numbers[i], _ = strconv.ParseUint(found[i+1], 10, 64) // what a range leaves out is 0
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

// acceptsPrerelease reports whether the list of identifiers, if there is one, has
// one of the prerelease.
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
