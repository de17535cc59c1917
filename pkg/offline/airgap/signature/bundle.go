package signature

import (
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
)

// BundleType is the type of the artifacts in which cosign 3 stores signatures, and the media type of their content, a sigstore bundle. Such
// an artifact refers to the signed one.
const BundleType types.MediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

const (
	// emptyType is the media type of emptyConfig, the configuration of an artifact that has none.
	emptyType types.MediaType = "application/vnd.oci.empty.v1+json"
	// emptyConfig is its content.
	emptyConfig string = "{}"
	// statementMediaType is the media type of a signed statement, and statementType the type in it. in-toto defines them.
	statementMediaType string = "application/vnd.in-toto+json"
	statementType      string = "https://in-toto.io/Statement/v1"
	// predicateType is the type of a statement that says no more than: this artifact is signed. Others are about builds, tests and the like.
	predicateType string = "https://sigstore.dev/cosign/sign/v1"
)

// Annotations of a manifest with a bundle, by which cosign lists bundles.
const (
	contentAnnotation   = "dev.sigstore.bundle.content"
	contentEnvelope     = "dsse-envelope"
	predicateAnnotation = "dev.sigstore.bundle.predicateType"
)

// bundle is a sigstore bundle with a signature that was made with a key. Certificates and transparency logs are not read.
type bundle struct {
	MediaType            types.MediaType      `json:"mediaType"`
	VerificationMaterial verificationMaterial `json:"verificationMaterial"`
	Envelope             *dsse.Envelope       `json:"dsseEnvelope,omitempty"`
}

type verificationMaterial struct {
	PublicKey struct {
		// Hint is the digest of the key.
		Hint string `json:"hint"`
	} `json:"publicKey"`
}

// statement is the signed document.
type statement struct {
	Type          string    `json:"_type"`
	Subject       []subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     struct{}  `json:"predicate"`
}

type subject struct {
	Digest map[string]string `json:"digest"`
}

// MayBeBundle reports whether an artifact may be a bundle, by the type that a registry lists for it. Some registries list the type of the
// configuration, which bundles do not have.
func MayBeBundle(listed v1.Descriptor) bool {
	return listed.ArtifactType == string(BundleType) || listed.ArtifactType == string(emptyType)
}

// AddBundle adds a manifest, if it has a bundle.
func (s *Signatures) AddBundle(blobs layout.Blobs, manifest v1.Descriptor) error {
	parsed, err := read(blobs, manifest)
	if err != nil {
		return err
	}
	if parsed.ArtifactType != string(BundleType) {
		return nil
	}
	if len(s.Bundles) == maxSignatures {
		return ErrTooMany
	}
	manifest.ArtifactType = parsed.ArtifactType
	s.Bundles = append(s.Bundles, manifest)
	return nil
}

// signBundle adds a manifest with a bundle for an artifact to blobs, and returns its descriptor. The same key and artifact give the same
// descriptor.
func signBundle(blobs layout.Blobs, artifact v1.Descriptor, key crypto.Signer) (v1.Descriptor, error) {
	signed, err := newBundle(artifact.Digest, key)
	if err != nil {
		return v1.Descriptor{}, err
	}
	layer, err := blobs.AddJSON(BundleType, signed)
	if err != nil {
		return v1.Descriptor{}, err
	}
	config, err := blobs.Add(emptyType, []byte(emptyConfig))
	if err != nil {
		return v1.Descriptor{}, err
	}
	added, err := blobs.AddJSON(types.OCIManifestSchema1, v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: string(BundleType), Config: config,
		Layers:      []v1.Descriptor{layer},
		Annotations: map[string]string{contentAnnotation: contentEnvelope, predicateAnnotation: predicateType},
		Subject:     &v1.Descriptor{MediaType: artifact.MediaType, Size: artifact.Size, Digest: artifact.Digest},
	})
	added.ArtifactType = string(BundleType)
	return added, err
}

func newBundle(digest v1.Hash, key crypto.Signer) (*bundle, error) {
	payload, err := json.Marshal(statement{
		Type: statementType, PredicateType: predicateType,
		Subject: []subject{{map[string]string{digest.Algorithm: digest.Hex}}},
	})
	if err != nil {
		return nil, err
	}
	signature, err := sign(key, dsse.PAE(statementMediaType, payload))
	if err != nil {
		return nil, err
	}
	signed := &bundle{MediaType: BundleType, Envelope: &dsse.Envelope{
		PayloadType: statementMediaType,
		Payload:     base64.StdEncoding.EncodeToString(payload),
		Signatures:  []dsse.Signature{{Sig: base64.StdEncoding.EncodeToString(signature)}},
	}}
	signed.VerificationMaterial.PublicKey.Hint, err = hintOf(key.Public())
	return signed, err
}

// hintOf returns the digest of a key, as cosign has it in bundles. No verifier needs it.
func hintOf(key crypto.PublicKey) (string, error) {
	encoded, err := x509.MarshalPKIXPublicKey(key)
	digest := sha256.Sum256(encoded)
	return base64.StdEncoding.EncodeToString(digest[:]), err
}

// verifyBundle reports whether a manifest has a bundle with a signature of the digest that was made with the key.
func verifyBundle(blobs layout.Blobs, manifest v1.Descriptor, digest v1.Hash, key crypto.PublicKey) (bool, error) {
	parsed, err := read(blobs, manifest)
	if err != nil {
		return false, err
	}
	if len(parsed.Layers) != 1 || parsed.Layers[0].MediaType != BundleType {
		return false, nil // another tool may have added it
	}
	content, err := blobs.Read(parsed.Layers[0])
	if err != nil {
		return false, err
	}
	var signed bundle
	if err := json.Unmarshal(content, &signed); err != nil || signed.Envelope == nil || signed.Envelope.PayloadType != statementMediaType {
		return false, nil //nolint:nilerr // another tool may have added it
	}
	payload, err := signed.Envelope.DecodeB64Payload()
	return err == nil && isSigned(signed.Envelope, payload, key) && isStatementFor(payload, digest), nil
}

// isSigned reports whether a signature of an envelope was made with the key.
func isSigned(envelope *dsse.Envelope, payload []byte, key crypto.PublicKey) bool {
	encoded := dsse.PAE(envelope.PayloadType, payload)
	for _, signature := range envelope.Signatures[:min(len(envelope.Signatures), maxSignatures)] {
		if raw, err := base64.StdEncoding.DecodeString(signature.Sig); err == nil && verify(key, encoded, raw) {
			return true
		}
	}
	return false
}

// isStatementFor reports whether a payload says that the artifact with the digest is signed.
func isStatementFor(payload []byte, digest v1.Hash) bool {
	var signed statement
	if err := json.Unmarshal(payload, &signed); err != nil || signed.Type != statementType || signed.PredicateType != predicateType {
		return false
	}
	for _, subject := range signed.Subject {
		if subject.Digest[digest.Algorithm] == digest.Hex {
			return true
		}
	}
	return false
}
