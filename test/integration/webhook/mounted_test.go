package webhook

import (
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"github.com/open-policy-agent/cert-controller/pkg/rotator"

	"open-cluster-management.io/interlock/test/testenv"
)

// mounted is a folder as the kubelet mounts a Secret of cert-manager: links into a folder that is replaced at once.
type mounted struct {
	dir       string
	maker     rotator.CertRotator
	authority *rotator.KeyPairArtifacts
}

func mount() *mounted {
	GinkgoHelper()
	m := &mounted{dir: GinkgoT().TempDir(), maker: rotator.CertRotator{
		CAName: "issuer", DNSName: "localhost", ExtKeyUsages: &[]x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}}
	var err error
	m.authority, err = m.maker.CreateCACert(time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	Expect(err).NotTo(HaveOccurred())
	m.renew()
	for _, name := range []string{"tls.crt", "tls.key", "ca.crt"} {
		Expect(os.Symlink(filepath.Join("..data", name), filepath.Join(m.dir, name))).To(Succeed())
	}
	return m
}

// renew replaces certificate and key, signed by the same authority.
func (m *mounted) renew() {
	GinkgoHelper()
	certificate, key, err := m.maker.CreateCertPEM(m.authority, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	Expect(err).NotTo(HaveOccurred())
	content, err := os.MkdirTemp(m.dir, "..")
	Expect(err).NotTo(HaveOccurred())
	for name, text := range map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": m.authority.CertPEM} {
		Expect(os.WriteFile(filepath.Join(content, name), text, 0o600)).To(Succeed())
	}
	current, temporary := filepath.Join(m.dir, "..data"), filepath.Join(m.dir, "..data_tmp")
	formerTarget, _ := os.Readlink(current) // none at first
	Expect(os.Symlink(filepath.Base(content), temporary)).To(Succeed())
	Expect(os.Rename(temporary, current)).To(Succeed())
	if formerTarget != "" {
		Expect(os.RemoveAll(filepath.Join(m.dir, formerTarget))).To(Succeed())
	}
}

// startWithFiles starts a replica with the certificate of the folder.
func startWithFiles(user *testenv.User, address string, files *mounted) *gexec.Session {
	GinkgoHelper()
	session, err := gexec.Start(exec.Command(managerBinary, "webhook", "--kubeconfig", user.Kubeconfig, "--namespace", namespace,
		"--certificates=files", "--certificate-dir", files.dir,
		"--webhook-bind-address", address, "--metrics-bind-address=0", "--health-probe-bind-address=0"), nil, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait() })
	Eventually(func() error { return convert(address, "localhost", files.authority.CertPEM) }).WithTimeout(60 * time.Second).Should(Succeed())
	return session
}
