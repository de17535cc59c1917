package ocm

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	"open-cluster-management.io/interlock/test/testenv"
)

// controllers are the controllers that OCM relies on: certificates, garbage collection, deletion of namespaces,
// service accounts, and aggregated roles such as admin, which the work agent has.
var controllers = []string{
	"certificatesigningrequest-signing-controller",
	"garbage-collector-controller",
	"namespace-controller",
	"serviceaccount-controller",
	"root-ca-certificate-publisher-controller",
	"clusterrole-aggregation-controller",
}

// startControllerManager starts kube-controller-manager with a CA that the API server trusts from then on.
func startControllerManager(ctx context.Context, cluster *testenv.Cluster, programs assets, files files) (*Component, error) {
	caFile, keyFile, err := newSigner(cluster, files.dir)
	if err != nil {
		return nil, err
	}
	user, err := cluster.AddUser("system:kube-controller-manager")
	if err != nil {
		return nil, err
	}
	component := &Component{
		name: "kube-controller-manager", path: programs.controllerManager, dir: files.dir,
		log: files.log("kube-controller-manager"), health: "/healthz",
		args: func(address string) []string {
			host, port, _ := net.SplitHostPort(address)
			return []string{
				"--kubeconfig", user.Kubeconfig, "--use-service-account-credentials",
				"--controllers", strings.Join(controllers, ","), "--leader-elect=false",
				"--cluster-signing-cert-file", caFile, "--cluster-signing-key-file", keyFile,
				"--root-ca-file", caFile,
				"--bind-address", host, "--secure-port", port, "--cert-dir", filepath.Join(files.dir, "kube-controller-manager"),
			}
		},
	}
	return component, component.Start(ctx)
}

// newSigner makes the CA whose client certificates the cluster accepts.
func newSigner(cluster *testenv.Cluster, dir string) (caFile, keyFile string, err error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", "", err
	}
	ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kube-controller-manager-signer"}, key)
	if err != nil {
		return "", "", err
	}
	caPEM := pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: ca.Raw})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: keyutil.RSAPrivateKeyBlockType, Bytes: x509.MarshalPKCS1PrivateKey(key)})
	caFile, keyFile = filepath.Join(dir, "signer.crt"), filepath.Join(dir, "signer.key")
	if err := os.WriteFile(caFile, caPEM, 0o600); err != nil {
		return "", "", err
	}
	if err := os.WriteFile(keyFile, keyPEM, 0o600); err != nil {
		return "", "", err
	}
	return caFile, keyFile, cluster.TrustClients(caPEM)
}
