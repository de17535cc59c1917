// Package signature signs the manifests of artifacts, and verifies signatures, in the formats of cosign. cosign 2 has a manifest whose
// layers are signed payloads, under a tag. cosign 3 has a manifest with a bundle for each signature, which refers to the artifact.
package signature

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
)

const (
	// MediaType is the media type of a signed payload.
	MediaType types.MediaType = "application/vnd.dev.cosign.simplesigning.v1+json"
	// annotation is the annotation of a payload with its signature.
	annotation = "dev.cosignproject.cosign/signature"
	// typeOfPayload is the type that is written in a payload.
	typeOfPayload = "cosign container image signature"
	// reference is the reference of the artifact in a payload. The artifact is signed before it is pushed, so the reference is
	// not known yet. No verifier reads it.
	reference = "interlock.invalid/package"
	// maxSignatures is the maximum number of signatures in a manifest. It limits the work of Verify.
	maxSignatures = 100
)

// ErrUnsigned is the error for an artifact without a signature.
var ErrUnsigned = errors.New("it is not signed")

// ErrWrong is the error for an artifact without a signature of the key.
var ErrWrong = errors.New("no signature was made with this key")

// Signatures are the signatures of an artifact.
type Signatures struct {
	// Tagged describes the manifest with the signatures of cosign 2. It is nil if there are none.
	Tagged *v1.Descriptor
	// Bundles describes the manifests with those of cosign 3.
	Bundles []v1.Descriptor
}

// Exist reports whether there are signatures of any format.
func (s *Signatures) Exist() bool { return s.Tagged != nil || len(s.Bundles) > 0 }

// ErrTooMany is the error for an artifact with more signatures than are read.
var ErrTooMany = fmt.Errorf("it has more than %d signatures", maxSignatures)

// payload is the signed document. containers/image defines its format.
type payload struct {
	Critical struct {
		Identity struct {
			Reference string `json:"docker-reference"`
		} `json:"identity"`
		Image struct {
			Digest string `json:"docker-manifest-digest"`
		} `json:"image"`
		Type string `json:"type"`
	} `json:"critical"`
	Optional map[string]any `json:"optional"`
}

// Tag returns the tag of the signatures of a manifest.
func Tag(digest v1.Hash) string { return strings.ReplaceAll(digest.String(), ":", "-") + ".sig" }

// Sign adds signatures in both formats to blobs. The same key and artifact give the same signatures.
func Sign(blobs layout.Blobs, artifact v1.Descriptor, key crypto.Signer) (Signatures, error) {
	tagged, err := signTagged(blobs, artifact.Digest, key)
	if err != nil {
		return Signatures{}, err
	}
	bundled, err := signBundle(blobs, artifact, key)
	return Signatures{Tagged: &tagged, Bundles: []v1.Descriptor{bundled}}, err
}

// signTagged adds a manifest with a signature of cosign 2 to blobs, and returns its descriptor.
func signTagged(blobs layout.Blobs, digest v1.Hash, key crypto.Signer) (v1.Descriptor, error) {
	var signed payload
	signed.Critical.Identity.Reference, signed.Critical.Image.Digest, signed.Critical.Type = reference, digest.String(), typeOfPayload
	layer, err := blobs.AddJSON(MediaType, signed)
	if err != nil {
		return v1.Descriptor{}, err
	}
	content, err := blobs.Read(layer)
	if err != nil {
		return v1.Descriptor{}, err
	}
	signature, err := sign(key, content)
	if err != nil {
		return v1.Descriptor{}, err
	}
	layer.Annotations = map[string]string{annotation: base64.StdEncoding.EncodeToString(signature)}
	return addTagged(blobs, []v1.Descriptor{layer})
}

// addTagged adds a manifest with signed payloads to blobs.
func addTagged(blobs layout.Blobs, payloads []v1.Descriptor) (v1.Descriptor, error) {
	file := v1.ConfigFile{RootFS: v1.RootFS{Type: "layers"}}
	for _, layer := range payloads {
		file.History = append(file.History, v1.History{})
		file.RootFS.DiffIDs = append(file.RootFS.DiffIDs, layer.Digest)
	}
	config, err := blobs.AddJSON(types.OCIConfigJSON, file)
	if err != nil {
		return v1.Descriptor{}, err
	}
	return blobs.AddJSON(types.OCIManifestSchema1, v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: payloads,
	})
}

// Merge adds a manifest with the signatures of two manifests of cosign 2 to blobs. Those of the first one come first.
func Merge(blobs layout.Blobs, first, second v1.Descriptor) (v1.Descriptor, error) {
	var payloads []v1.Descriptor
	for _, signatures := range []v1.Descriptor{first, second} {
		manifest, err := read(blobs, signatures)
		if err != nil {
			return v1.Descriptor{}, err
		}
		for _, layer := range manifest.Layers {
			if !slices.ContainsFunc(payloads, func(added v1.Descriptor) bool { return isSameSignature(added, layer) }) {
				payloads = append(payloads, layer)
			}
		}
	}
	if manifest, err := read(blobs, first); err == nil && len(manifest.Layers) == len(payloads) {
		return first, nil // it may have more than the signatures
	}
	return addTagged(blobs, payloads)
}

func isSameSignature(a, b v1.Descriptor) bool {
	return a.Digest == b.Digest && a.Annotations[annotation] == b.Annotations[annotation]
}

func read(blobs layout.Blobs, signatures v1.Descriptor) (*v1.Manifest, error) {
	content, err := blobs.Read(signatures)
	if err != nil {
		return nil, err
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the signatures: %w", err)
	}
	return manifest, nil
}

// sign returns a deterministic signature. For ECDSA, RFC 6979 defines it.
func sign(key crypto.Signer, content []byte) ([]byte, error) {
	switch key.Public().(type) {
	case *ecdsa.PublicKey:
		digest := sha256.Sum256(content)
		return key.Sign(nil, digest[:], crypto.SHA256)
	case ed25519.PublicKey:
		return key.Sign(nil, content, crypto.Hash(0))
	default:
		return nil, errNoKey
	}
}

// Verify returns an error unless one of the signatures is for the digest, and was made with the key.
func Verify(blobs layout.Blobs, signatures Signatures, digest v1.Hash, key crypto.PublicKey) error {
	if !signatures.Exist() {
		return ErrUnsigned
	}
	if signatures.Tagged != nil {
		if err := verifyTagged(blobs, *signatures.Tagged, digest, key); !errors.Is(err, ErrWrong) {
			return err
		}
	}
	for _, manifest := range signatures.Bundles {
		if ok, err := verifyBundle(blobs, manifest, digest, key); ok || err != nil {
			return err
		}
	}
	return ErrWrong
}

// verifyTagged returns an error unless a manifest of cosign 2 has a signature of the digest that was made with the key.
func verifyTagged(blobs layout.Blobs, signatures v1.Descriptor, digest v1.Hash, key crypto.PublicKey) error {
	manifest, err := read(blobs, signatures)
	if err != nil {
		return err
	}
	if len(manifest.Layers) > maxSignatures {
		return ErrTooMany
	}
	for _, layer := range manifest.Layers {
		signature, err := base64.StdEncoding.DecodeString(layer.Annotations[annotation])
		if err != nil || layer.MediaType != MediaType {
			continue // another tool may have added this layer; a later one may be valid
		}
		content, err := blobs.Read(layer)
		if err != nil {
			return err
		}
		if verify(key, content, signature) && isFor(content, digest) {
			return nil
		}
	}
	return ErrWrong
}

func verify(key crypto.PublicKey, content, signature []byte) bool {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		digest := sha256.Sum256(content)
		return ecdsa.VerifyASN1(key, digest[:], signature)
	case ed25519.PublicKey:
		return ed25519.Verify(key, content, signature)
	default:
		return false
	}
}

// isFor reports whether a payload is for the manifest with the digest.
func isFor(content []byte, digest v1.Hash) bool {
	var signed payload
	err := json.Unmarshal(content, &signed)
	return err == nil && signed.Critical.Type == typeOfPayload && signed.Critical.Image.Digest == digest.String()
}
