package versions

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// OfImage returns the version in the tag of an image, or the reason for which there is no version.
func OfImage(image string) (version, reason string) {
	name, digest, _ := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":") // a registry may have a port
	switch {
	case !tagged && digest != "":
		return "", "image by digest"
	case !tagged:
		return "", "image without a tag"
	}
	parsed, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v"))
	if err != nil {
		return "", fmt.Sprintf("tag %q is no semantic version", tag)
	}
	return parsed.String(), ""
}
