package hubrelease

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"open-cluster-management.io/interlock/pkg/files/fileerror"
	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/offline/airgap"
	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
	"open-cluster-management.io/interlock/pkg/offline/airgap/registry"
)

// chartLayer is the media type of a chart in a registry, as Helm has it.
const chartLayer = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// Open reads a release: a folder with the files of one, the chart of one as a file or a folder, or oci:// with the reference of the
// chart. images is another folder with the archives of the images. It may be empty.
func Open(ctx context.Context, client registry.Client, pathOrReference, images string) (*Release, error) {
	var release *Release
	var err error
	if reference, ok := strings.CutPrefix(pathOrReference, airgap.Scheme); ok {
		release, err = pull(ctx, client, reference)
	} else {
		release, err = read(pathOrReference)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pathOrReference, err)
	}
	if images != "" {
		if !hasImages(images) {
			return nil, fmt.Errorf("--images: %s has no %s", images, strings.Join(archives(), ", "))
		}
		release.folder, release.checksums = images, nil
		if release.checksums, err = readChecksums(images); err != nil {
			return nil, fmt.Errorf("--images: %w", err)
		}
	}
	return release, nil
}

// read reads a release from files.
func read(path string) (*Release, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileerror.Reading(path, err)
	}
	if !info.IsDir() {
		return readFile(path)
	}
	if _, err := os.Stat(filepath.Join(path, "Chart.yaml")); err == nil {
		chart, archive, err := readFolder(path)
		return &Release{Chart: chart, Archive: archive}, err
	}
	charts, err := filepath.Glob(filepath.Join(path, chartName+"-*.tgz"))
	if err != nil {
		return nil, err
	}
	if len(charts) != 1 {
		return nil, fmt.Errorf("it has %d files %s-VERSION.tgz, and must have one: name the folder of a release, or a chart", len(charts), chartName)
	}
	return readFile(charts[0])
}

// readFile reads the archive of a chart. The archives of the images may be beside it.
func readFile(path string) (*Release, error) {
	folder := filepath.Dir(path)
	sums, err := readChecksums(folder)
	if err != nil {
		return nil, err
	}
	archive, err := regularfile.ReadAll(path, nil)
	if err != nil {
		return nil, err
	}
	if err := sums.check(filepath.Base(path), archive); err != nil {
		return nil, err
	}
	chart, err := ReadChart(archive)
	if err != nil {
		return nil, err
	}
	release := &Release{Chart: chart, Archive: archive, checksums: sums}
	if hasImages(folder) {
		release.folder = folder
	}
	return release, nil
}

// archives returns the names of the files with images.
func archives() []string {
	var names []string
	for _, program := range Programs {
		names = append(names, program+".tar")
	}
	return names
}

func hasImages(folder string) bool {
	for _, name := range archives() {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return false
		}
	}
	return true
}

// pull reads the chart from a registry.
func pull(ctx context.Context, client registry.Client, unparsed string) (*Release, error) {
	reference, err := client.Reference(unparsed)
	if err != nil {
		return nil, err
	}
	blobs := layout.Blobs{}
	artifact, err := client.GetOne(ctx, reference, blobs)
	if err != nil {
		return nil, err
	}
	layers, err := blobs.Children(artifact)
	if err != nil {
		return nil, err
	}
	for _, layer := range layers {
		if layer.MediaType != chartLayer {
			continue
		}
		archive, err := blobs.Read(layer)
		if err != nil {
			return nil, err
		}
		chart, err := ReadChart(archive)
		return &Release{Chart: chart, Archive: archive}, err
	}
	return nil, errors.New("it is no chart: it has no layer " + chartLayer)
}

// Images reads the images of the release from its files, or else from its registry. The returned function closes files.
func (r *Release) Images(ctx context.Context, client registry.Client) ([]Image, func() error, error) {
	var images []Image
	var files []*os.File
	closeAll := func() error {
		var err error
		for _, file := range files {
			err = errors.Join(err, file.Close())
		}
		return err
	}
	for _, program := range Programs {
		var image Image
		var err error
		if r.HasImages() {
			var file *os.File
			image, file, err = r.readImage(program)
			if file != nil {
				files = append(files, file)
			}
		} else {
			image, err = r.pullImage(ctx, client, program)
		}
		if err != nil {
			return nil, nil, errors.Join(err, closeAll())
		}
		images = append(images, image)
	}
	if err := r.checkImages(images); err != nil {
		return nil, nil, errors.Join(err, closeAll())
	}
	return images, closeAll, nil
}

// readImage reads the archive of an image. Its blobs are read from the returned file.
func (r *Release) readImage(program string) (Image, *os.File, error) {
	path := filepath.Join(r.folder, program+".tar")
	file, err := regularfile.Open(path)
	if err != nil {
		return Image{}, nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = r.checksums.checkFile(filepath.Base(path), file)
	}
	if err != nil {
		return Image{}, file, fmt.Errorf("%s: %w", path, err)
	}
	index, blobs, err := layout.Read(file, info.Size())
	if err == nil && len(index) != 1 {
		err = fmt.Errorf("it has %d images, and must have one", len(index))
	}
	if err != nil {
		return Image{}, file, fmt.Errorf("%s: %w", path, err)
	}
	tag := index[0].Annotations["org.opencontainers.image.ref.name"]
	if r.IsPublished() {
		tag = r.Chart.Metadata.AppVersion
	}
	if tag == "" {
		return Image{}, file, fmt.Errorf("%s: its index.json names no version", path)
	}
	descriptor := v1.Descriptor{MediaType: index[0].MediaType, Size: index[0].Size, Digest: index[0].Digest}
	return Image{Program: program, Tag: tag, Descriptor: descriptor, Blobs: blobs}, file, nil
}

// ErrNoImages is the error for a release whose images are not known.
var ErrNoImages = errors.New("the chart of a checkout has no images: build them with make images, and name their folder with --images")

// Unbuilt returns the names of the images of a checkout, without their content, for checks before they are built.
func (r *Release) Unbuilt() []Image {
	var images []Image
	for _, program := range Programs {
		images = append(images, Image{Program: program, Tag: r.Chart.Metadata.AppVersion})
	}
	return images
}

func (r *Release) pullImage(ctx context.Context, client registry.Client, program string) (Image, error) {
	if r.Reference(program) == "" {
		return Image{}, ErrNoImages
	}
	reference, err := client.Image(r.Reference(program))
	if err != nil {
		return Image{}, err
	}
	image := Image{Program: program, Tag: r.Chart.Metadata.AppVersion, Blobs: layout.Blobs{}}
	image.Descriptor, err = client.Get(ctx, reference, image.Blobs)
	return image, err
}
