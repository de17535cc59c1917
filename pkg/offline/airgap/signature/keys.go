package signature

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"

	"github.com/secure-systems-lab/go-securesystemslib/encrypted"

	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxKey is the maximum size of the file of a key in bytes.
const maxKey = 64 << 10

var errNoKey = errors.New("it must be a key of ECDSA with the curve P-256, or of Ed25519")

// PrivateKey reads a private key in PEM: as PKCS#8 without a passphrase, or as cosign makes it, with one. It requests the passphrase only
// if there is one.
func PrivateKey(path string, passphrase func() ([]byte, error)) (crypto.Signer, error) {
	block, err := readKey(path)
	if err != nil {
		return nil, err
	}
	encoded := block.Bytes
	switch block.Type {
	case "PRIVATE KEY":
	case "ENCRYPTED SIGSTORE PRIVATE KEY", "ENCRYPTED COSIGN PRIVATE KEY":
		if encoded, err = decrypt(encoded, passphrase); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	default:
		return nil, fmt.Errorf("%s: it must be a PRIVATE KEY in PKCS#8, or one of cosign generate-key-pair, not %q: "+
			"openssl pkcs8 -topk8 -nocrypt converts others", path, text.Excerpt(block.Type))
	}
	key, err := x509.ParsePKCS8PrivateKey(encoded)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok || !supported(signer.Public()) {
		return nil, fmt.Errorf("%s: %w", path, errNoKey)
	}
	return signer, nil
}

// decrypt returns the content of a key with a passphrase.
func decrypt(content []byte, passphrase func() ([]byte, error)) ([]byte, error) {
	secret, err := passphrase()
	if err != nil {
		return nil, err
	}
	decrypted, err := encrypted.Decrypt(content, secret)
	if err != nil {
		return nil, fmt.Errorf("its passphrase is another one, or the file is damaged: %w", err)
	}
	return decrypted, nil
}

// PublicKey reads a public key in PEM.
func PublicKey(path string) (crypto.PublicKey, error) {
	block, err := readKey(path)
	if err != nil {
		return nil, err
	}
	if block.Type != "PUBLIC KEY" {
		return nil, fmt.Errorf("%s: it must be a PUBLIC KEY, not %q", path, text.Excerpt(block.Type))
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !supported(key) {
		return nil, fmt.Errorf("%s: %w", path, errNoKey)
	}
	return key, nil
}

func supported(key crypto.PublicKey) bool {
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		return key.Curve == elliptic.P256()
	case ed25519.PublicKey:
		return true
	default:
		return false
	}
}

func readKey(path string) (block *pem.Block, err error) {
	file, err := regularfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	content, err := io.ReadAll(io.LimitReader(file, maxKey))
	if err != nil {
		return nil, err
	}
	block, _ = pem.Decode(content)
	if block == nil {
		return nil, fmt.Errorf("%s: it must be a key in PEM", path)
	}
	return block, nil
}
