package hubrelease

import (
	"context"
	"fmt"
	"io"
	"maps"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
	"open-cluster-management.io/interlock/pkg/offline/airgap/registry"
)

// Prefix returns the prefix of the names of the images in a registry, or in a repository of one.
func Prefix(repository string) string { return repository + "/" + chartName + "-" }

// Target returns the reference of an image under a prefix.
func Target(client registry.Client, prefix string, image *Image) (name.Reference, error) {
	return client.Reference(prefix + image.Program + ":" + image.Tag)
}

// Push copies an image, and reports how many bytes of how many were read. A registry that has some of the content gets the rest only.
func Push(ctx context.Context, client registry.Client, target name.Reference, image *Image, report func(read, total int64)) error {
	counter := &counter{report: report}
	counted := maps.Clone(image.Blobs)
	// Manifests are small, and read several times.
	err := image.Blobs.Walk([]v1.Descriptor{image.Descriptor}, func(descriptor v1.Descriptor) error {
		if !descriptor.MediaType.IsIndex() && !descriptor.MediaType.IsImage() {
			counter.total += descriptor.Size
			counted[descriptor.Digest] = counter.count(image.Blobs[descriptor.Digest])
		}
		return nil
	})
	if err == nil {
		err = client.Put(ctx, target, image.Descriptor, counted)
	}
	if err != nil {
		return fmt.Errorf("image %s: %w", target, err)
	}
	return nil
}

// counter counts the bytes of an upload.
type counter struct {
	read, total int64
	report      func(read, total int64)
}

// count returns a blob whose bytes are counted when they are read.
func (c *counter) count(blob layout.Blob) layout.Blob {
	return layout.Blob{Size: blob.Size, Open: func() (io.ReadCloser, error) {
		content, err := blob.Open()
		if err != nil {
			return nil, err
		}
		return countedReader{content, c}, nil
	}}
}

type countedReader struct {
	io.ReadCloser
	counter *counter
}

// Read implements io.Reader.
func (r countedReader) Read(buffer []byte) (int, error) {
	n, err := r.ReadCloser.Read(buffer)
	r.counter.read += int64(n)
	r.counter.report(r.counter.read, r.counter.total)
	return n, err
}
