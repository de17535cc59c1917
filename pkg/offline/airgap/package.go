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

	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/files/wholefile"
	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
	"open-cluster-management.io/interlock/pkg/offline/airgap/registry"
	"open-cluster-management.io/interlock/pkg/offline/airgap/signature"
	"open-cluster-management.io/interlock/pkg/text"
)

// Annotations in the index of an archive. cosign identifies a signed artifact and its signatures by the kind. Images have their
// references.
const (
	kindAnnotation      = "kind"
	kindSigned          = "dev.cosignproject.cosign/image"
	kindSignatures      = "dev.cosignproject.cosign/sigs"
	referenceAnnotation = "org.opencontainers.image.ref.name"
)

// Scheme is the prefix of references that could also be paths.
const Scheme = "oci://"

// Package is a package with its blobs.
type Package struct {
	Content
	// Artifact describes the manifest of the package.
	Artifact v1.Descriptor
	// Signatures has the signatures of the package. There are none for an unsigned package.
	Signatures signature.Signatures
	// PackedImages has the images in the archive. Each has its reference as an annotation.
	PackedImages []v1.Descriptor
	Blobs        layout.Blobs
	file         io.Closer
}

// Close closes the archive.
func (p *Package) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// Pack adds a package to blobs, and signs it with the key, unless the key is nil.
func Pack(content *Content, blobs layout.Blobs, key crypto.Signer) (*Package, error) {
	p := &Package{Content: *content, Blobs: blobs}
	var err error
	if p.Artifact, err = content.Manifest(blobs); err != nil || key == nil {
		return p, err
	}
	p.Signatures, err = signature.Sign(blobs, p.Artifact, key)
	return p, err
}

// Fetch adds the images of a package to blobs, and sets their digests: the digest in the reference, or the current digest in the
// registry. It skips images with variables.
func (c *Content) Fetch(ctx context.Context, client registry.Client, blobs layout.Blobs) ([]v1.Descriptor, error) {
	var fetched []v1.Descriptor
	for i := range c.Images {
		image := &c.Images[i]
		if image.Variable() {
			continue
		}
		reference, err := client.Image(image.Image)
		if err != nil {
			return nil, err
		}
		descriptor, err := client.Get(ctx, reference, blobs)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", text.Excerpt(image.Image), err)
		}
		image.Digest = descriptor.Digest.String()
		descriptor.Annotations = map[string]string{referenceAnnotation: image.Image}
		fetched = append(fetched, descriptor)
	}
	return fetched, nil
}

// Write writes a package as an archive.
func (p *Package) Write(writer io.Writer) error {
	signed := p.Artifact
	signed.Annotations = map[string]string{kindAnnotation: kindSigned}
	manifests := []v1.Descriptor{signed}
	if p.Signatures.Tagged != nil {
		signatures := *p.Signatures.Tagged
		signatures.Annotations = map[string]string{kindAnnotation: kindSignatures}
		manifests = append(manifests, signatures)
	}
	for _, bundle := range p.Signatures.Bundles {
		bundle.Annotations = map[string]string{kindAnnotation: kindSigned}
		manifests = append(manifests, bundle)
	}
	return layout.Write(writer, append(manifests, p.PackedImages...), p.Blobs)
}

// WriteFile writes a package as an archive file. After an error there is no file.
func (p *Package) WriteFile(path string) error { return wholefile.Write(path, p.Write) }

// Source reads packages.
type Source struct {
	registry.Client
	// Key is the key that a package has to be signed with. A nil key accepts any package, signed or not.
	Key crypto.PublicKey
}

// Open reads a package from an archive or a registry. The caller has to close it.
func (s Source) Open(ctx context.Context, pathOrReference string) (*Package, error) {
	reference, isReference := strings.CutPrefix(pathOrReference, Scheme)
	_, err := os.Stat(pathOrReference)
	if !isReference && (strings.HasSuffix(pathOrReference, ".tar") || !errors.Is(err, fs.ErrNotExist)) {
		return s.OpenArchive(pathOrReference)
	}
	return s.pull(ctx, reference)
}

// OpenArchive reads a package from a file. The caller has to close it.
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

// ReadArchive reads a package from an archive. It refuses files that are no part of the package, and content with another digest.
func (s Source) ReadArchive(file io.ReaderAt, size int64) (*Package, error) {
	manifests, blobs, err := layout.Read(file, size)
	if err != nil {
		return nil, err
	}
	p := &Package{Blobs: blobs}
	var signed []v1.Descriptor
	for _, descriptor := range manifests {
		switch kind := descriptor.Annotations[kindAnnotation]; {
		case kind == kindSigned && descriptor.ArtifactType == string(signature.BundleType):
			if err := p.Signatures.AddBundle(blobs, descriptor); err != nil {
				return nil, err
			}
		case kind == kindSigned:
			signed = append(signed, descriptor)
		case kind == kindSignatures && p.Signatures.Tagged != nil:
			return nil, errors.New("it has signatures twice")
		case kind == kindSignatures:
			p.Signatures.Tagged = &descriptor
		default:
			p.PackedImages = append(p.PackedImages, descriptor)
		}
	}
	if len(signed) != 1 {
		return nil, fmt.Errorf("it has %d packages, and must have one", len(signed))
	}
	p.Artifact = signed[0]
	if err := s.read(p); err != nil {
		return nil, err
	}
	for _, image := range p.PackedImages {
		reference := image.Annotations[referenceAnnotation]
		if !p.names(reference, image.Digest.String()) {
			return nil, fmt.Errorf("it has an image %q that the package does not name", text.Excerpt(reference))
		}
	}
	return p, nil
}

// pull reads a package from a registry, with its signatures and without images.
func (s Source) pull(ctx context.Context, unparsed string) (*Package, error) {
	reference, err := s.Reference(unparsed)
	if err != nil {
		return nil, err
	}
	p := &Package{Blobs: layout.Blobs{}}
	if p.Artifact, err = s.GetOne(ctx, reference, p.Blobs); err != nil {
		return nil, err
	}
	if p.Signatures, err = s.GetSignatures(ctx, reference.Context(), p.Artifact.Digest, p.Blobs); err != nil {
		return nil, fmt.Errorf("%s: its signatures: %w", reference, err)
	}
	if err := s.read(p); err != nil {
		return nil, fmt.Errorf("%s: %w", reference, err)
	}
	return p, nil
}

// read reads the content of a package. It verifies the signature first, so it decodes only signed content.
func (s Source) read(p *Package) error {
	if s.Key != nil {
		if err := signature.Verify(p.Blobs, p.Signatures, p.Artifact.Digest, s.Key); err != nil {
			return err
		}
	}
	content, err := Read(p.Blobs, p.Artifact)
	if err == nil {
		p.Content = *content
	}
	return err
}

// Push writes the images of a package under a prefix, then its signatures, and the package last.
func (p *Package) Push(ctx context.Context, client registry.Client, reference name.Reference, imagePrefix string) error {
	for _, image := range p.PackedImages {
		target, err := Target(image.Annotations[referenceAnnotation], imagePrefix)
		if err != nil {
			return err
		}
		imageReference, err := client.Image(target)
		if err != nil {
			return err
		}
		if err := client.Put(ctx, imageReference, image, p.Blobs); err != nil {
			return fmt.Errorf("image %s: %w", imageReference, err)
		}
	}
	if err := client.PutSignatures(ctx, reference.Context(), p.Artifact.Digest, p.Signatures, p.Blobs); err != nil {
		return fmt.Errorf("signatures: %w", err)
	}
	return client.Put(ctx, reference, p.Artifact, p.Blobs)
}
