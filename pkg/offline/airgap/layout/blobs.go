// Package layout reads and writes archives of OCI image layouts. The same content gives the same bytes. An archive has only files
// that its index refers to, directly or not.
package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	// MaxRead is the maximum size of content that is read into memory, in bytes.
	MaxRead = 16 << 20
	// maxManifest is the maximum size of a manifest in bytes. Registries have the same limit.
	maxManifest = 4 << 20
	// maxDepth is the maximum number of manifests on the way to a blob. Images need no more than an index of indexes.
	maxDepth = 4
)

// Blob is content of a known size.
type Blob struct {
	Size int64
	Open func() (io.ReadCloser, error)
}

// Blobs has blobs by their digests.
type Blobs map[v1.Hash]Blob

// Add adds content that is in memory, and returns its descriptor.
func (b Blobs) Add(mediaType types.MediaType, content []byte) (v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(content))
	if err != nil {
		return v1.Descriptor{}, err
	}
	b[digest] = Blob{Size: size, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }}
	return v1.Descriptor{MediaType: mediaType, Size: size, Digest: digest}, nil
}

// AddJSON adds an object as JSON, and returns its descriptor.
func (b Blobs) AddJSON(mediaType types.MediaType, object any) (v1.Descriptor, error) {
	content, err := json.Marshal(object)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return b.Add(mediaType, content)
}

// Read reads the content of a descriptor into memory. It refuses content with another digest or size.
func (b Blobs) Read(descriptor v1.Descriptor) (content []byte, err error) {
	limit := int64(MaxRead)
	if descriptor.MediaType.IsIndex() || descriptor.MediaType.IsImage() {
		limit = maxManifest
	}
	if descriptor.Size > limit {
		return nil, fmt.Errorf("%s: it has %d bytes, and more than %d are refused", descriptor.Digest, descriptor.Size, limit)
	}
	blob, err := b.find(descriptor)
	if err != nil {
		return nil, err
	}
	reader, err := blob.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", descriptor.Digest, err)
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	content, err = io.ReadAll(io.LimitReader(reader, descriptor.Size+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", descriptor.Digest, err)
	}
	digest, _, err := v1.SHA256(bytes.NewReader(content))
	if err == nil && digest != descriptor.Digest {
		err = fmt.Errorf("%s: its content was changed: it has digest %s", descriptor.Digest, digest)
	}
	return content, err
}

// find returns the blob of a descriptor.
func (b Blobs) find(descriptor v1.Descriptor) (Blob, error) {
	blob, ok := b[descriptor.Digest]
	switch {
	case !ok:
		return blob, fmt.Errorf("%s is missing", descriptor.Digest)
	case descriptor.Size != blob.Size:
		return blob, fmt.Errorf("%s: it has %d bytes, and its manifest says %d", descriptor.Digest, blob.Size, descriptor.Size)
	default:
		return blob, nil
	}
}

// Walk calls visit once for each descriptor that roots refer to, directly or not, and for the roots. It visits the children of a
// manifest before the manifest.
func (b Blobs) Walk(roots []v1.Descriptor, visit func(v1.Descriptor) error) error {
	return b.walk(roots, visit, map[v1.Hash]bool{}, maxDepth)
}

func (b Blobs) walk(descriptors []v1.Descriptor, visit func(v1.Descriptor) error, visited map[v1.Hash]bool, depth int) error {
	if depth == 0 {
		return errors.New("manifests refer to manifests too often")
	}
	for _, descriptor := range descriptors {
		if _, err := b.find(descriptor); err != nil {
			return err
		}
		if visited[descriptor.Digest] {
			continue
		}
		visited[descriptor.Digest] = true
		children, err := b.Children(descriptor)
		if err != nil {
			return err
		}
		if err := b.walk(children, visit, visited, depth-1); err != nil {
			return err
		}
		if err := visit(descriptor); err != nil {
			return err
		}
	}
	return nil
}

// Children returns the descriptors in a manifest. It returns none for other content, and leaves out layers that an image downloads
// from elsewhere.
func (b Blobs) Children(parent v1.Descriptor) ([]v1.Descriptor, error) {
	if !parent.MediaType.IsIndex() && !parent.MediaType.IsImage() {
		return nil, nil
	}
	content, err := b.Read(parent)
	if err != nil {
		return nil, err
	}
	if parent.MediaType.IsIndex() {
		index, err := v1.ParseIndexManifest(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", parent.Digest, err)
		}
		return index.Manifests, nil
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", parent.Digest, err)
	}
	children := []v1.Descriptor{manifest.Config}
	for _, layer := range manifest.Layers {
		if layer.MediaType.IsDistributable() {
			children = append(children, layer)
		}
	}
	return children, nil
}
