package certificate

import (
	"bytes"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
)

// The Secret has the keys of the type kubernetes.io/tls and of cert-manager, and a key for
// the private key of the CA.
const (
	authorityName = "interlock-webhook-ca"
	// BundleKey is the key of the bundle: all trusted CAs, one or two. Clients of the
	// webhook must trust all of them.
	BundleKey       = corev1.ServiceAccountRootCAKey // ca.crt
	authorityKeyKey = "ca.key"
)

// keys is the usable content of the Secret.
type keys struct {
	// trusted are the CAs that have not expired, the newest first.
	trusted []*x509.Certificate
	// authority is the CA whose private key is stored. It is nil without a CA, or if the
	// CA is not valid yet by this replica's clock.
	authority *rotator.KeyPairArtifacts
	// serving is the certificate. It is nil if the CAs trust none.
	serving *x509.Certificate
}

// read returns the usable keys in the data of the Secret, for a server with a DNS name.
func read(data map[string][]byte, serverName string, currentTime time.Time) keys {
	var content keys
	bundle, err := cert.ParseCertsPEM(data[BundleKey])
	if err != nil {
		bundle = nil // absent or invalid
	}
	roots := x509.NewCertPool()
	for _, authority := range bundle {
		if currentTime.Before(authority.NotAfter) {
			content.trusted = append(content.trusted, authority)
			roots.AddCert(authority)
		}
		if content.authority == nil && !currentTime.Before(authority.NotBefore) {
			content.authority = signer(authority, data[authorityKeyKey])
		}
	}
	pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return content
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: serverName, CurrentTime: currentTime}); err == nil {
		content.serving = pair.Leaf
	}
	return content
}

// signer returns the CA with its private key. It returns nil if the key belongs to another certificate.
func signer(authority *x509.Certificate, keyPEM []byte) *rotator.KeyPairArtifacts {
	certPEM := encode(authority)
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil
	}
	key, ok := pair.PrivateKey.(*rsa.PrivateKey)
	if !ok {
		return nil
	}
	return &rotator.KeyPairArtifacts{Cert: authority, Key: key, CertPEM: certPEM, KeyPEM: keyPEM}
}

func encode(certificates ...*x509.Certificate) []byte {
	var text bytes.Buffer
	for _, certificate := range certificates {
		text.Write(pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate.Raw}))
	}
	return text.Bytes()
}

// take takes one step in the data of the Secret.
func (l Lifetimes) take(next step, content keys, data map[string][]byte, serverName string, currentTime time.Time) error {
	maker := rotator.CertRotator{
		CAName: authorityName, CAOrganization: "interlock", DNSName: serverName,
		ExtKeyUsages: &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	switch next {
	case introduce:
		authority, err := maker.CreateCACert(currentTime.Add(-backdated), currentTime.Add(l.Authority))
		if err != nil {
			return fmt.Errorf("make a CA: %w", err)
		}
		data[BundleKey], data[authorityKeyKey] = authority.CertPEM, authority.KeyPEM
		if content.serving != nil { // else no certificate needs the old CAs
			data[BundleKey] = append(data[BundleKey], encode(content.trusted...)...)
		}
	case issue:
		end := currentTime.Add(l.Certificate)
		if last := content.authority.Cert.NotAfter; end.After(last) {
			end = last
		}
		certificate, key, err := maker.CreateCertPEM(content.authority, currentTime.Add(-backdated), end)
		if err != nil {
			return fmt.Errorf("make a certificate: %w", err)
		}
		data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey] = certificate, key
	case retire:
		data[BundleKey] = content.authority.CertPEM
	case rest:
	}
	return nil
}
