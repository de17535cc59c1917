package signature

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
)

// Output of cosign v2.5.0 and sigstore v1.9.1: static.NewSignature and mutate.AppendSignatures, for a payload that an ECDSASigner
// has signed.
const (
	cosignDigest   = "sha256:bca0f91859cd4cf9670f689056525c46b2346a26b232ad21d0045fcfb2d116e9"
	cosignManifest = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":` +
		`"application/vnd.oci.image.config.v1+json","size":233,` +
		`"digest":"sha256:93d80fb8f833c640df63c682f1840b1185e785d023f83443e5ae4ac33f4bfb1f"},"layers":[{"mediaType":` +
		`"application/vnd.dev.cosign.simplesigning.v1+json","size":243,` +
		`"digest":"sha256:3958ff68d2211baa853131484227782dfcd170e2fcb671417c75b9bb2a5a629f","annotations":{` +
		`"dev.cosignproject.cosign/signature":"` +
		`MEUCIBsVHJPvzR3hVBVXkDK8c3GBXUErqWcCpKRzURzTUvDjAiEAhbQbUT59Ev+iR1OO06MxQblGrwGzSa5Jv76lrjeYvIk="}}]}`
	cosignConfig = `{"architecture":"","created":"0001-01-01T00:00:00Z","history":[{"created":"0001-01-01T00:00:00Z"}],"os":"",` +
		`"rootfs":{"type":"layers","diff_ids":["sha256:3958ff68d2211baa853131484227782dfcd170e2fcb671417c75b9bb2a5a629f"]},"config":{}}`
	cosignPayload = `{"critical":{"identity":{"docker-reference":"registry.example.com/addons"},"image":{"docker-manifest-digest":` +
		`"sha256:bca0f91859cd4cf9670f689056525c46b2346a26b232ad21d0045fcfb2d116e9"},"type":"cosign container image signature"},"optional":null}`
	cosignKey = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7ievl+3vMIERaIn1wUkuw8HD3xo5
M6lTUBzjCvHAiqIc7RjfsRg4jU6hjdJfG6Z4s9mjcfDym4+0355Vs7m4uQ==
-----END PUBLIC KEY-----
`
)

func TestSignaturesOfCosignAreVerified(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cosign.pub")
	if err := os.WriteFile(path, []byte(cosignKey), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := PublicKey(path)
	if err != nil {
		t.Fatal(err)
	}
	blobs := layout.Blobs{}
	signatures := add(t, blobs, types.OCIManifestSchema1, cosignManifest)
	add(t, blobs, MediaType, cosignPayload)
	tagged := Signatures{Tagged: &signatures}
	if err := Verify(blobs, tagged, digestOf(t, cosignDigest), key); err != nil {
		t.Error(err)
	}
	wrongDigest := strings.Replace(cosignDigest, "bca0", "bca1", 1)
	if err := Verify(blobs, tagged, digestOf(t, wrongDigest), key); !errors.Is(err, ErrWrong) {
		t.Errorf("the signature of another artifact was accepted: %v", err)
	}
}

// The manifest differs from cosign's manifest in the signed reference, and therefore in digests and signature.
func TestSignaturesAreAsCosignMakesThem(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	blobs := layout.Blobs{}
	signed, err := signTagged(blobs, digestOf(t, cosignDigest), key)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := v1.ParseManifest(strings.NewReader(contentOf(t, blobs, signed)))
	if err != nil {
		t.Fatal(err)
	}
	payload, config := contentOf(t, blobs, manifest.Layers[0]), contentOf(t, blobs, manifest.Config)
	if want := strings.Replace(cosignPayload, "registry.example.com/addons", reference, 1); payload != want {
		t.Errorf("payload %s, want %s", payload, want)
	}
	cosigns := "sha256:3958ff68d2211baa853131484227782dfcd170e2fcb671417c75b9bb2a5a629f"
	want := strings.Replace(cosignConfig, cosigns, manifest.Layers[0].Digest.String(), 1)
	if !bytes.Equal(canonical(t, config), canonical(t, want)) {
		t.Errorf("config %s, want %s", config, want)
	}
	if got := Tag(digestOf(t, cosignDigest)); got != "sha256-bca0f91859cd4cf9670f689056525c46b2346a26b232ad21d0045fcfb2d116e9.sig" {
		t.Error(got)
	}
}

func canonical(t *testing.T, document string) []byte {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestSignAndVerify(t *testing.T) {
	onP256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, ofEdwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	artifact := v1.Descriptor{MediaType: types.OCIManifestSchema1, Size: 1, Digest: digestOf(t, cosignDigest)}
	for name, tt := range map[string]struct {
		key      crypto.Signer
		wrongKey crypto.PublicKey
	}{
		"ECDSA":   {onP256, public},
		"Ed25519": {ofEdwards, onP256.Public()},
	} {
		t.Run(name, func(t *testing.T) {
			blobs := layout.Blobs{}
			signed, err := Sign(blobs, artifact, tt.key)
			if err != nil {
				t.Fatal(err)
			}
			if repeated, err := Sign(blobs, artifact, tt.key); err != nil || !cmp.Equal(repeated, signed) {
				t.Errorf("the same key and artifact gave other signatures: %v", err)
			}
			for format, only := range map[string]Signatures{"cosign 2": {Tagged: signed.Tagged}, "cosign 3": {Bundles: signed.Bundles}} {
				if err := Verify(blobs, only, artifact.Digest, tt.key.Public()); err != nil {
					t.Errorf("%s: %v", format, err)
				}
				if err := Verify(blobs, only, artifact.Digest, tt.wrongKey); !errors.Is(err, ErrWrong) {
					t.Errorf("%s: another key was accepted: %v", format, err)
				}
			}
		})
	}
}

func TestKeys(t *testing.T) {
	onP384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ofRSA, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, good, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8 := func(key any) []byte {
		raw, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	for name, tt := range map[string]struct {
		kind    string
		content []byte
		want    string
	}{
		"good":             {"PRIVATE KEY", pkcs8(good), ""},
		"another curve":    {"PRIVATE KEY", pkcs8(onP384), "it must be a key of ECDSA with the curve P-256, or of Ed25519"},
		"RSA":              {"PRIVATE KEY", pkcs8(ofRSA), "it must be a key of ECDSA with the curve P-256, or of Ed25519"},
		"of cosign":        {"ENCRYPTED SIGSTORE PRIVATE KEY", encryptedWith(t, "secret", pkcs8(good)), ""},
		"of cosign 1":      {"ENCRYPTED COSIGN PRIVATE KEY", encryptedWith(t, "secret", pkcs8(good)), ""},
		"wrong passphrase": {"ENCRYPTED SIGSTORE PRIVATE KEY", encryptedWith(t, "other", pkcs8(good)), "its passphrase is another one"},
		"no content":       {"ENCRYPTED SIGSTORE PRIVATE KEY", []byte("{}"), "its passphrase is another one, or the file is damaged"},
		"of openssl":       {"ENCRYPTED PRIVATE KEY", nil, "openssl pkcs8 -topk8 -nocrypt converts others"},
		"SEC 1":            {"EC PRIVATE KEY", nil, `or one of cosign generate-key-pair, not "EC PRIVATE KEY"`},
		"not what it says": {"PRIVATE KEY", []byte("no key"), "asn1"},
		"none":             {"", nil, "it must be a key in PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			content := pem.EncodeToMemory(&pem.Block{Type: tt.kind, Bytes: tt.content})
			if tt.kind == "" {
				content = nil
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := PrivateKey(path, func() ([]byte, error) { return []byte("secret"), nil })
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if _, err := PublicKey(path); err == nil {
				t.Error("a private key was taken for a public one")
			}
		})
	}
}

func encryptedWith(t *testing.T, passphrase string, content []byte) []byte {
	t.Helper()
	encoded, err := encrypted.Encrypt(content, []byte(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func add(t *testing.T, blobs layout.Blobs, mediaType types.MediaType, content string) v1.Descriptor {
	t.Helper()
	added, err := blobs.Add(mediaType, []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return added
}

func contentOf(t *testing.T, blobs layout.Blobs, descriptor v1.Descriptor) string {
	t.Helper()
	content, err := blobs.Read(descriptor)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func digestOf(t *testing.T, text string) v1.Hash {
	t.Helper()
	digest, err := v1.NewHash(text)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}
