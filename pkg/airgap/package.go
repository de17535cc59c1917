package airgap

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"open-cluster-management.io/interlock/pkg/airgap/layout"
	"open-cluster-management.io/interlock/pkg/airgap/registry"
	"open-cluster-management.io/interlock/pkg/airgap/signature"
	"open-cluster-management.io/interlock/pkg/regularfile"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/wholefile"
)

// Annotations of the index of an archive: those that cosign knows a signed artifact and its signatures by, and the reference of
// an image.
const (
	kindAnnotation = "kind"
	kindSigned     = "dev.cosignproject.cosign/image"
	kindSignatures = "dev.cosignproject.cosign/sigs"
	referenceOf    = "org.opencontainers.image.ref.name"
)

// Scheme begins the reference of a package in a registry, where a path could be meant.
const Scheme = "oci://"

// Package is a package, with what it is stored as.
type Package struct {
	Content
	// Of is its manifest, and Signatures that of its signatures; nil: it is not signed.
	Of         v1.Descriptor
	Signatures *v1.Descriptor
	// Packed are the images that an archive has, by their references.
	Packed []v1.Descriptor
	Blobs  layout.Blobs
	file   io.Closer
}

// Close closes the archive.
func (p *Package) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// Pack stores a package, and signs it with a key; nil: it is not signed.
func Pack(content *Content, blobs layout.Blobs, key crypto.Signer) (*Package, error) {
	p := &Package{Content: *content, Blobs: blobs}
	var err error
	if p.Of, err = content.Manifest(blobs); err != nil || key == nil {
		return p, err
	}
	signatures, err := signature.Sign(blobs, p.Of.Digest, key)
	p.Signatures = &signatures
	return p, err
}

// Fetch adds the images of a package to its blobs, and records their digests: those that the manifests name, or else those that
// the registries have now. Images with variables are left out.
func (c *Content) Fetch(ctx context.Context, from registry.Client, to layout.Blobs) (packed []v1.Descriptor, err error) {
	for i := range c.Images {
		one := &c.Images[i]
		if one.Variable() {
			continue
		}
		reference, err := from.Image(one.Image)
		if err != nil {
			return nil, err
		}
		of, err := from.Get(ctx, reference, to)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", text.Excerpt(one.Image), err)
		}
		one.Digest = of.Digest.String()
		of.Annotations = map[string]string{referenceOf: one.Image}
		packed = append(packed, of)
	}
	return packed, nil
}

// Write writes a package as an archive.
func (p *Package) Write(to io.Writer) error {
	signed := p.Of
	signed.Annotations = map[string]string{kindAnnotation: kindSigned}
	all := []v1.Descriptor{signed}
	if p.Signatures != nil {
		signatures := *p.Signatures
		signatures.Annotations = map[string]string{kindAnnotation: kindSignatures}
		all = append(all, signatures)
	}
	return layout.Write(to, append(all, p.Packed...), p.Blobs)
}

// WriteFile writes it as a file, as a whole.
func (p *Package) WriteFile(path string) error { return wholefile.Write(path, p.Write) }

// Source is where packages are read from.
type Source struct {
	registry.Client
	// Key is the one that a package has to be signed with; nil: any package is accepted.
	Key crypto.PublicKey
}

// Open reads a package from an archive, or from a registry. It has to be closed.
func (s Source) Open(ctx context.Context, from string) (*Package, error) {
	reference, isReference := strings.CutPrefix(from, Scheme)
	if _, err := os.Stat(from); !isReference && (strings.HasSuffix(from, ".tar") || !errors.Is(err, fs.ErrNotExist)) {
		return s.OpenArchive(from)
	}
	return s.pull(ctx, reference)
}

// OpenArchive reads a package from a file. It has to be closed.
func (s Source) OpenArchive(path string) (*Package, error) {
	file, err := regularfile.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	var p *Package
	if err == nil {
		p, err = s.ReadArchive(file, info.Size())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	p.file = file
	return p, nil
}

// ReadArchive reads a package from an archive. Each file in it has to be one of the package, and as its digest says.
func (s Source) ReadArchive(file io.ReaderAt, size int64) (*Package, error) {
	stored, blobs, err := layout.Read(file, size)
	if err != nil {
		return nil, err
	}
	p := &Package{Blobs: blobs}
	var signed []v1.Descriptor
	for _, one := range stored {
		switch one.Annotations[kindAnnotation] {
		case kindSigned:
			signed = append(signed, one)
		case kindSignatures:
			if p.Signatures != nil {
				return nil, errors.New("it has signatures twice")
			}
			p.Signatures = &one
		default:
			p.Packed = append(p.Packed, one)
		}
	}
	if len(signed) != 1 {
		return nil, fmt.Errorf("it has %d packages, and must have one", len(signed))
	}
	p.Of = signed[0]
	if err := s.read(p); err != nil {
		return nil, err
	}
	for _, one := range p.Packed {
		if !p.has(one.Annotations[referenceOf], one.Digest.String()) {
			return nil, fmt.Errorf("it has an image %q that the package does not name", text.Excerpt(one.Annotations[referenceOf]))
		}
	}
	return p, nil
}

// pull reads a package from a registry, with its signatures and without images.
func (s Source) pull(ctx context.Context, from string) (*Package, error) {
	reference, err := s.Reference(from)
	if err != nil {
		return nil, err
	}
	p := &Package{Blobs: layout.Blobs{}}
	if p.Of, err = s.GetOne(ctx, reference, p.Blobs); err != nil {
		return nil, err
	}
	signatures, found, err := s.GetSignatures(ctx, reference.Context(), p.Of.Digest, p.Blobs)
	if err != nil {
		return nil, fmt.Errorf("%s: its signatures: %w", reference, err)
	}
	if found {
		p.Signatures = &signatures
	}
	if err := s.read(p); err != nil {
		return nil, fmt.Errorf("%s: %w", reference, err)
	}
	return p, nil
}

// read verifies the signature first, so that nothing is decoded that was not signed.
func (s Source) read(p *Package) error {
	if s.Key != nil && p.Signatures == nil {
		return signature.ErrUnsigned
	}
	if s.Key != nil {
		if err := signature.Verify(p.Blobs, *p.Signatures, p.Of.Digest, s.Key); err != nil {
			return err
		}
	}
	content, err := Read(p.Blobs, p.Of)
	if err == nil {
		p.Content = *content
	}
	return err
}

// Push writes the images of a package, its signatures, and then itself.
func (p *Package) Push(ctx context.Context, to registry.Client, reference name.Reference, images string) error {
	for _, one := range p.Packed {
		target, err := Target(one.Annotations[referenceOf], images)
		if err != nil {
			return err
		}
		at, err := to.Image(target)
		if err != nil {
			return err
		}
		if err := to.Put(ctx, at, one, p.Blobs); err != nil {
			return fmt.Errorf("image %s: %w", at, err)
		}
	}
	if p.Signatures != nil {
		if err := to.Put(ctx, reference.Context().Tag(signature.Tag(p.Of.Digest)), *p.Signatures, p.Blobs); err != nil {
			return fmt.Errorf("signatures: %w", err)
		}
	}
	return to.Put(ctx, reference, p.Of, p.Blobs)
}
