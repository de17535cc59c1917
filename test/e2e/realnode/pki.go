//go:build linux

package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// identities returns the clients of the API server, with name and group. The keys are the names of their kubeconfigs.
func identities(node string) map[string]certutil.Config {
	return map[string]certutil.Config{
		"admin":              {CommonName: "admin", Organization: []string{"system:masters"}},
		"controller-manager": {CommonName: "system:kube-controller-manager"},
		"scheduler":          {CommonName: "system:kube-scheduler"},
		"proxy":              {CommonName: "system:kube-proxy"},
		"kubelet":            {CommonName: "system:node:" + node, Organization: []string{"system:nodes"}},
	}
}

// authority is a cluster's CA, made new for every run.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// writePKI writes a CA, the API server's certificate, the key that signs
// service accounts, and a kubeconfig for each identity into the state folder.
func writePKI(s spec) error {
	key, err := newKey()
	if err != nil {
		return err
	}
	certificate, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: s.Name}, key)
	if err != nil {
		return fmt.Errorf("make the CA of %s: %w", s.Name, err)
	}
	ca := authority{certificate, key}
	if err := writePair(s, "ca", encode(certificate.Raw), key); err != nil {
		return err
	}
	server := certutil.Config{CommonName: "kube-apiserver", AltNames: certutil.AltNames{
		DNSNames: []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"},
		IPs:      []net.IP{net.ParseIP(s.Address()), net.ParseIP(s.FirstService()), net.IPv4(127, 0, 0, 1)},
	}}
	if _, _, err := ca.issue(s, "apiserver", server, x509.ExtKeyUsageServerAuth); err != nil {
		return err
	}
	accounts, err := newKey()
	if err != nil {
		return err
	}
	if err := writePair(s, "service-accounts", nil, accounts); err != nil {
		return err
	}
	for name, identity := range identities(s.Name) {
		if err := ca.writeKubeconfig(s, name, identity); err != nil {
			return err
		}
	}
	return nil
}

func (a authority) writeKubeconfig(s spec, name string, identity certutil.Config) error {
	certificate, key, err := a.issue(s, name, identity, x509.ExtKeyUsageClientAuth)
	if err != nil {
		return err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[s.Name] = &clientcmdapi.Cluster{Server: s.Server(), CertificateAuthorityData: encode(a.certificate.Raw)}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key}
	config.Contexts[s.Name] = &clientcmdapi.Context{Cluster: s.Name, AuthInfo: name}
	config.CurrentContext = s.Name
	return clientcmd.WriteToFile(*config, s.file(name+".kubeconfig"))
}

// issue signs a certificate, writes it with its key, and returns both as PEM.
func (a authority) issue(s spec, name string, config certutil.Config, usage x509.ExtKeyUsage) (certificate, key []byte, err error) {
	signer, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: config.CommonName, Organization: config.Organization},
		DNSNames:     config.AltNames.DNSNames,
		IPAddresses:  config.AltNames.IPs,
		NotBefore:    a.certificate.NotBefore,
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{usage},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, signer.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign the certificate %s of %s: %w", name, s.Name, err)
	}
	certificate = encode(raw)
	if key, err = keyutil.MarshalPrivateKeyToPEM(signer); err != nil {
		return nil, nil, err
	}
	return certificate, key, writePair(s, name, certificate, signer)
}

func newKey() (crypto.Signer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

func writePair(s spec, name string, certificate []byte, key crypto.Signer) error {
	content, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	if certificate != nil {
		if err := os.WriteFile(s.file(name+".crt"), certificate, 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(s.file(name+".key"), content, 0o600)
}

func encode(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: certificate})
}
