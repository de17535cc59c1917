package versions

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"open-cluster-management.io/interlock/pkg/text"
)

// maxRelease is the maximum length of the version of a release in characters. A file name of 255 bytes has it, and its extension.
const maxRelease = 250

// ParseRelease parses the version of a release, which has three numbers. Its error says what to write.
func ParseRelease(version string) (*semver.Version, error) {
	parsed, err := semver.StrictNewVersion(strings.TrimPrefix(version, "v"))
	switch {
	case errors.Is(err, strconv.ErrRange):
		return nil, fmt.Errorf("%q: a number is too large: the largest is %d", text.Excerpt(version), uint64(math.MaxUint64))
	case err != nil:
		return nil, fmt.Errorf("%q: must be a semantic version such as 1.2.3", text.Excerpt(version))
	case len(version) > maxRelease:
		return nil, fmt.Errorf("%q: must have at most %d characters, because it is the name of a file", text.Excerpt(version), maxRelease)
	}
	return parsed, nil
}

// IsSame reports whether two versions are the same, with their builds: v1.0.0 and 1.0.0 are. Comparisons ignore builds.
func IsSame(a, b *semver.Version) bool { return a.Equal(b) && a.Metadata() == b.Metadata() }
