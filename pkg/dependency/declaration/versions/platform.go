package versions

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"
)

var (
	platform = regexp.MustCompile(`^v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(.*)$`)
	// Only these are prereleases of Kubernetes. Vendors append other suffixes.
	platformPrerelease = regexp.MustCompile(`^-((?:alpha|beta|rc)\.(?:0|[1-9]\d{0,8}))(?:$|[^0-9A-Za-z])`)
)

// ParsePlatform reads the version of a platform, such as Kubernetes, without a vendor's suffix. A
// semantic version would treat that suffix as a prerelease. v1.31.2-gke.100 becomes 1.31.2, but
// v1.32.0-rc.1 stays v1.32.0-rc.1.
func ParsePlatform(text string) (*semver.Version, error) {
	parts := platform.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return nil, fmt.Errorf("%q is no version", text)
	}
	core := parts[1] + "." + parts[2] + "."
	if parts[3] == "" {
		core += "0"
	} else {
		core += parts[3]
	}
	if prerelease := platformPrerelease.FindStringSubmatch(parts[4]); prerelease != nil {
		core += "-" + prerelease[1]
	}
	return semver.NewVersion(core)
}
