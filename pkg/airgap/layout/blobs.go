// Package layout reads and writes archives of OCI image layouts. The same content gives the same bytes, and an archive has
// nothing but what its index leads to.
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
	// MaxRead is the largest content that is read into memory, in bytes.
	MaxRead = 16 << 20
	// maxManifest is the largest manifest. Registries accept no larger ones.
	maxManifest = 4 << 20
	// maxDepth is how many manifests lead to a blob: an index of indexes is as deep as images are.
	maxDepth = 4
)

// Blob is content of a known size.
type Blob struct {
	Size int64
	Open func() (io.ReadCloser, error)
}

// Blobs are contents by their digests.
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

// AddJSON adds an object.
func (b Blobs) AddJSON(mediaType types.MediaType, object any) (v1.Descriptor, error) {
	content, err := json.Marshal(object)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return b.Add(mediaType, content)
}

// Read reads content into memory. It is the one that the descriptor names, in digest and size.
func (b Blobs) Read(of v1.Descriptor) (content []byte, err error) {
	limit := int64(MaxRead)
	if of.MediaType.IsIndex() || of.MediaType.IsImage() {
		limit = maxManifest
	}
	if of.Size > limit {
		return nil, fmt.Errorf("%s: it has %d bytes, and more than %d are refused", of.Digest, of.Size, limit)
	}
	blob, err := b.of(of)
	if err != nil {
		return nil, err
	}
	opened, err := blob.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", of.Digest, err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	content, err = io.ReadAll(io.LimitReader(opened, of.Size+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", of.Digest, err)
	}
	digest, _, err := v1.SHA256(bytes.NewReader(content))
	if err == nil && digest != of.Digest {
		err = fmt.Errorf("%s: its content was changed: it has digest %s", of.Digest, digest)
	}
	return content, err
}

// of returns the blob of a descriptor.
func (b Blobs) of(one v1.Descriptor) (Blob, error) {
	blob, is := b[one.Digest]
	switch {
	case !is:
		return blob, fmt.Errorf("%s is missing", one.Digest)
	case one.Size != blob.Size:
		return blob, fmt.Errorf("%s: it has %d bytes, and its manifest says %d", one.Digest, blob.Size, one.Size)
	default:
		return blob, nil
	}
}

// Walk calls visit with all that descriptors lead to: with what a manifest refers to before the manifest, and once with each.
func (b Blobs) Walk(from []v1.Descriptor, visit func(v1.Descriptor) error) error {
	return b.walk(from, visit, map[v1.Hash]bool{}, maxDepth)
}

func (b Blobs) walk(from []v1.Descriptor, visit func(v1.Descriptor) error, seen map[v1.Hash]bool, depth int) error {
	if depth == 0 {
		return errors.New("manifests refer to manifests too often")
	}
	for _, one := range from {
		if _, err := b.of(one); err != nil {
			return err
		}
		if seen[one.Digest] {
			continue
		}
		seen[one.Digest] = true
		children, err := b.Children(one)
		if err != nil {
			return err
		}
		if err := b.walk(children, visit, seen, depth-1); err != nil {
			return err
		}
		if err := visit(one); err != nil {
			return err
		}
	}
	return nil
}

// Children returns what a manifest refers to; nothing for other content. Layers that images take from elsewhere are left out.
func (b Blobs) Children(of v1.Descriptor) ([]v1.Descriptor, error) {
	if !of.MediaType.IsIndex() && !of.MediaType.IsImage() {
		return nil, nil
	}
	content, err := b.Read(of)
	if err != nil {
		return nil, err
	}
	if of.MediaType.IsIndex() {
		index, err := v1.ParseIndexManifest(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", of.Digest, err)
		}
		return index.Manifests, nil
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", of.Digest, err)
	}
	children := []v1.Descriptor{manifest.Config}
	for _, layer := range manifest.Layers {
		if layer.MediaType.IsDistributable() {
			children = append(children, layer)
		}
	}
	return children, nil
}
