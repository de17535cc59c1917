package versions

import (
	"strings"

	"github.com/Masterminds/semver/v3"
)

// ExactVersions returns the versions that a range names exactly, as one of its alternatives: "1.2.3-rc.1 || >= 2" names one.
func ExactVersions(text string) []*semver.Version {
	var exact []*semver.Version
	for part := range strings.SplitSeq(text, "||") {
		if version := exactVersion(part); version != nil {
			exact = append(exact, version)
		}
	}
	return exact
}

// exactVersion returns the version of a range that is an exact version, or nil.
func exactVersion(text string) *semver.Version {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "="))
	version, err := semver.StrictNewVersion(strings.TrimPrefix(text, "v"))
	if err != nil {
		return nil
	}
	return version
}
