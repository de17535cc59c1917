// Package hubrelease reads a release of Interlock: its chart and its images, from files or from a registry.
package hubrelease

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
)

// Programs are the programs that have an image each.
var Programs = []string{"addon-manager", "addon-agent"}

// Annotations of a released chart: the prefix of its images, and the digest of each image after the name of its program.
const (
	prefixAnnotation = "interlock.open-cluster-management.io/image-prefix"
	digestAnnotation = "interlock.open-cluster-management.io/%s-digest"
)

const chartName = "interlock"

// Release is a release of Interlock.
type Release struct {
	Chart *chartv2.Chart
	// Archive is the chart as a file. It is stored on the hub, to render the chart again with other values.
	Archive []byte
	// folder has the archives of the images. It is empty if the images are in a registry.
	folder    string
	checksums checksums
}

// ReadChart reads the archive of a chart, and refuses charts of other programs.
func ReadChart(archive []byte) (*chartv2.Chart, error) {
	chart, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		return nil, fmt.Errorf("it is no chart: %w", err)
	}
	return chart, check(chart)
}

func check(chart *chartv2.Chart) error {
	if chart.Name() != chartName {
		return fmt.Errorf("it is the chart %q, and not that of Interlock", chart.Name())
	}
	return nil
}

// readFolder reads a chart in a folder, as a checkout has it.
func readFolder(folder string) (chart *chartv2.Chart, archive []byte, err error) {
	if chart, err = loader.LoadDir(folder); err != nil {
		return nil, nil, err
	}
	if err := check(chart); err != nil {
		return nil, nil, err
	}
	temporary, err := os.MkdirTemp("", "interlock-chart-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	file, err := util.Save(chart, temporary)
	if err != nil {
		return nil, nil, err
	}
	archive, err = os.ReadFile(file) //nolint:gosec // it was just written
	return chart, archive, err
}

// Version is the version of the release.
func (r *Release) Version() string { return r.Chart.Metadata.Version }

// HasImages reports whether the release has its images as files.
func (r *Release) HasImages() bool { return r.folder != "" }

// IsPublished reports whether the chart names its images by digest. A chart of a checkout does not.
func (r *Release) IsPublished() bool { return r.Digest(Programs[0]) != "" }

// Digest returns the digest of the image of a program. It is empty if the chart does not name it.
func (r *Release) Digest(program string) string {
	return r.Chart.Metadata.Annotations[fmt.Sprintf(digestAnnotation, program)]
}

// Reference returns the name of a program's image in the registry of the release. It is empty for a chart of a checkout.
func (r *Release) Reference(program string) string {
	prefix := r.Chart.Metadata.Annotations[prefixAnnotation]
	if prefix == "" || r.Digest(program) == "" {
		return ""
	}
	return prefix + program + "@" + r.Digest(program)
}

// Image is the image of a program.
type Image struct {
	Program string
	// Tag is the tag that the image gets in a registry.
	Tag        string
	Descriptor v1.Descriptor
	Blobs      layout.Blobs
}

// checkImages refuses images of other releases than the chart.
func (r *Release) checkImages(images []Image) error {
	for i := range images {
		image := &images[i]
		if digest := r.Digest(image.Program); digest != "" && digest != image.Descriptor.Digest.String() {
			return fmt.Errorf("the image of %s has digest %s, and the chart names %s: chart and images are of different releases",
				image.Program, image.Descriptor.Digest, digest)
		}
	}
	tags := map[string]bool{}
	for i := range images {
		tags[images[i].Tag] = true
	}
	if len(tags) > 1 {
		return fmt.Errorf("the images have different versions: %q", slices.Sorted(maps.Keys(tags)))
	}
	return nil
}
