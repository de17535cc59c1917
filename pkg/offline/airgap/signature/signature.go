// Package signature signs the manifests of artifacts, and verifies signatures, in the format of cosign: a manifest whose
// layers are signed payloads.
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

// Sign adds a manifest with a signature to blobs, and returns its descriptor. The same key and digest give the same descriptor.
func Sign(blobs layout.Blobs, digest v1.Hash, key crypto.Signer) (v1.Descriptor, error) {
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
	config, err := blobs.AddJSON(types.OCIConfigJSON, v1.ConfigFile{
		History: []v1.History{{}}, RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{layer.Digest}},
	})
	if err != nil {
		return v1.Descriptor{}, err
	}
	return blobs.AddJSON(types.OCIManifestSchema1, v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: []v1.Descriptor{layer},
	})
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

// Verify returns an error unless a manifest has a signature of the digest that was made with the key.
func Verify(blobs layout.Blobs, signatures v1.Descriptor, digest v1.Hash, key crypto.PublicKey) error {
	content, err := blobs.Read(signatures)
	if err != nil {
		return err
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("the signatures: %w", err)
	}
	if len(manifest.Layers) > maxSignatures {
		return fmt.Errorf("it has more than %d signatures", maxSignatures)
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
