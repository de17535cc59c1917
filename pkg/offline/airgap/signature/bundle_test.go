package signature

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
)

// Output of cosign v3.1.3: "cosign generate-key-pair" with the passphrase "secret", and "cosign sign" of a package in a registry, without a
// transparency log. Nothing else was signed with the key.
const (
	cosign3Digest   = "sha256:08068dae8af4dc5f807a2f79ad1333b34b52b69d216d9c8e8bb25c03eb520431"
	cosign3Manifest = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application` +
		`/vnd.oci.empty.v1+json","size":2,"digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caa` +
		`ff8a","artifactType":"application/vnd.dev.sigstore.bundle.v0.3+json"},"layers":[{"mediaType":"application/vnd.` +
		`dev.sigstore.bundle.v0.3+json","size":667,"digest":"sha256:8af76793f732e5f727be3b3c485f1b0ff221a857769d7407dde` +
		`4c597c5f90a83"}],"annotations":{"dev.sigstore.bundle.content":"dsse-envelope","dev.sigstore.bundle.predicateTy` +
		`pe":"https://sigstore.dev/cosign/sign/v1","org.opencontainers.image.created":"2026-11-29T23:47:35Z"},"subject"` +
		`:{"mediaType":"application/vnd.oci.image.manifest.v1+json","size":2065,"digest":"sha256:08068dae8af4dc5f807a2f` +
		`79ad1333b34b52b69d216d9c8e8bb25c03eb520431"},"artifactType":"application/vnd.dev.sigstore.bundle.v0.3+json"}`
	cosign3Bundle = `{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json", "verificationMaterial":{"publicKey":{"hint":"4mh` +
		`VO2bQEyC+x6YdaCdrwHTQu0ke7cMZM+pXNloseEo="}}, "dsseEnvelope":{"payload":"eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pb` +
		`y9TdGF0ZW1lbnQvdjEiLCAic3ViamVjdCI6W3siZGlnZXN0Ijp7InNoYTI1NiI6IjA4MDY4ZGFlOGFmNGRjNWY4MDdhMmY3OWFkMTMzM2IzNGI` +
		`1MmI2OWQyMTZkOWM4ZThiYjI1YzAzZWI1MjA0MzEifSwgImFubm90YXRpb25zIjp7fX1dLCAicHJlZGljYXRlVHlwZSI6Imh0dHBzOi8vc2lnc` +
		`3RvcmUuZGV2L2Nvc2lnbi9zaWduL3YxIiwgInByZWRpY2F0ZSI6e319", "payloadType":"application/vnd.in-toto+json", "signa` +
		`tures":[{"sig":"MEQCIG7Y+TYvo+zCEkG1crZjpAVfkOB+FgN5Ad6QoSeF62DLAiAQfpA3CkGSvtsN0hEzoWPD+aIniMDPeom4MWoXANv4Lg` +
		`=="}]}}`
	cosign3Key = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaR6cY/GWaMEr0Oj+u8jIPQKcGOkt
a+cYwi0bIAoYsJnfRlyXXWEY+0hWzNcZRHtEbQgQKXxmnJrsYH5b2PI+Xg==
-----END PUBLIC KEY-----
`
	cosign3PrivateKey = `-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----
eyJrZGYiOnsibmFtZSI6InNjcnlwdCIsInBhcmFtcyI6eyJOIjo2NTUzNiwiciI6
OCwicCI6MX0sInNhbHQiOiJvMFlUaWpBWGh0dndqZlFqZ3JTektwSVppR1lYZHlC
djhESFdDamlvYzZrPSJ9LCJjaXBoZXIiOnsibmFtZSI6Im5hY2wvc2VjcmV0Ym94
Iiwibm9uY2UiOiJIaUplSmxZblRkNzY5cUJTclZ6bHIrTllDQkRGeUt0diJ9LCJj
aXBoZXJ0ZXh0IjoiRGNZVEgvRmhGNHRjaUFwOWNXaWN2eENJSjV6dU9TL3ZRZnNG
KyttUEoxZnpRbitZUzVCQnRBU1YzQ1ZzUjhEaXhtcWtXSjAyZW8rKzJpbnlMWUlk
emVkY1ZoRnNCUi83L3k3c2E3amF3cWVZU3Ywb0tuM3R4dWlLaTZadEtFL2gwSjlp
cmRrbmVmeUZXYmZrM1QyTUtIaVRFQVBGRVdnY0pZOXUwUkJDTncwSFlTaVQ2bjlW
ZjE5OUg0bm9heExjWW5sNHBXUGM0TXNHRnc9PSJ9
-----END ENCRYPTED SIGSTORE PRIVATE KEY-----
`
)

// addCosign3 adds what cosign has written to blobs.
func addCosign3(t *testing.T, blobs layout.Blobs, manifest, bundle string) Signatures {
	t.Helper()
	add(t, blobs, BundleType, bundle)
	return Signatures{Bundles: []v1.Descriptor{add(t, blobs, types.OCIManifestSchema1, manifest)}}
}

func writeKey(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBundlesOfCosignAreVerified(t *testing.T) {
	key, err := PublicKey(writeKey(t, cosign3Key))
	if err != nil {
		t.Fatal(err)
	}
	blobs := layout.Blobs{}
	signatures := addCosign3(t, blobs, cosign3Manifest, cosign3Bundle)
	if err := Verify(blobs, signatures, digestOf(t, cosign3Digest), key); err != nil {
		t.Error(err)
	}
	if err := Verify(blobs, signatures, digestOf(t, cosignDigest), key); !errors.Is(err, ErrWrong) {
		t.Errorf("the signature of another artifact was accepted: %v", err)
	}
}

// The private key of cosign makes the same statement as cosign. The signature differs, because that of cosign is random.
func TestBundlesAreAsCosignMakesThem(t *testing.T) {
	key, err := PrivateKey(writeKey(t, cosign3PrivateKey), func() ([]byte, error) { return []byte("secret"), nil })
	if err != nil {
		t.Fatal(err)
	}
	blobs := layout.Blobs{}
	artifact := v1.Descriptor{MediaType: types.OCIManifestSchema1, Size: 2065, Digest: digestOf(t, cosign3Digest)}
	signed, err := signBundle(blobs, artifact, key)
	if err != nil {
		t.Fatal(err)
	}
	own, cosigns := parse(t, contentOf(t, blobs, signed)), parse(t, cosign3Manifest)
	if own.ArtifactType != cosigns.ArtifactType || own.Config.Digest != cosigns.Config.Digest ||
		own.Subject.Digest != cosigns.Subject.Digest || own.Subject.Size != cosigns.Subject.Size {
		t.Errorf("manifest %+v, want %+v", own, cosigns)
	}
	for _, name := range []string{contentAnnotation, predicateAnnotation} {
		if own.Annotations[name] != cosigns.Annotations[name] {
			t.Errorf("annotation %s is %q, want %q", name, own.Annotations[name], cosigns.Annotations[name])
		}
	}
	bundle := contentOf(t, blobs, own.Layers[0])
	if hint := "4mhVO2bQEyC+x6YdaCdrwHTQu0ke7cMZM+pXNloseEo="; !strings.Contains(bundle, hint) || !strings.Contains(cosign3Bundle, hint) {
		t.Errorf("another hint: %s", bundle)
	}
	public, err := PublicKey(writeKey(t, cosign3Key))
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(blobs, Signatures{Bundles: []v1.Descriptor{signed}}, artifact.Digest, public); err != nil {
		t.Error(err)
	}
}

func parse(t *testing.T, manifest string) *v1.Manifest {
	t.Helper()
	parsed, err := v1.ParseManifest(strings.NewReader(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// A bundle counts only if all of it says that this artifact is signed. Bundles of other tools are no error.
func TestOtherBundlesAreNoSignatures(t *testing.T) {
	key, err := PrivateKey(writeKey(t, cosign3PrivateKey), func() ([]byte, error) { return []byte("secret"), nil })
	if err != nil {
		t.Fatal(err)
	}
	digest := digestOf(t, cosign3Digest)
	for name, tt := range map[string]struct{ manifest, bundle string }{
		"another type of layer":   {strings.ReplaceAll(cosign3Manifest, "bundle.v0.3", "bundle.v9"), cosign3Bundle},
		"no bundle":               {cosign3Manifest, "[]"},
		"no envelope":             {cosign3Manifest, "{}"},
		"another type of content": {cosign3Manifest, strings.Replace(cosign3Bundle, "vnd.in-toto", "vnd.other", 1)},
		"another signature":       {cosign3Manifest, strings.Replace(cosign3Bundle, `"sig":"MEQC`, `"sig":"MEQD`, 1)},
		"another payload":         {cosign3Manifest, strings.Replace(cosign3Bundle, `"payload":"ey`, `"payload":"fy`, 1)},
	} {
		blobs := layout.Blobs{}
		layer := add(t, blobs, BundleType, tt.bundle)
		manifest := tt.manifest
		if old := parse(t, manifest).Layers[0]; old.Digest != layer.Digest {
			manifest = strings.Replace(manifest, old.Digest.String(), layer.Digest.String(), 1)
			manifest = strings.Replace(manifest, `"size":667`, fmt.Sprintf(`"size":%d`, layer.Size), 1)
		}
		signatures := Signatures{Bundles: []v1.Descriptor{add(t, blobs, types.OCIManifestSchema1, manifest)}}
		if err := Verify(blobs, signatures, digest, key.Public()); !errors.Is(err, ErrWrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A statement about a test or a build, signed with the same key, is no signature.
func TestOtherStatementsAreNoSignatures(t *testing.T) {
	digest := digestOf(t, cosign3Digest)
	own := `{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"` + digest.Hex + `"}}],` +
		`"predicateType":"https://sigstore.dev/cosign/sign/v1","predicate":{}}`
	if !isStatementFor([]byte(own), digest) {
		t.Error("its own statement was refused")
	}
	for _, change := range [][2]string{
		{"cosign/sign", "cosign/vuln"}, {"Statement/v1", "Statement/v0.1"}, {`"sha256"`, `"sha512"`}, {digest.Hex, "00"}, {"{", "["},
	} {
		if isStatementFor([]byte(strings.Replace(own, change[0], change[1], 1)), digest) {
			t.Errorf("with %s it was accepted", change[1])
		}
	}
}
