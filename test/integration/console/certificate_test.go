package console

import (
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/util/cert"
)

var _ = Describe("the certificate of addon-manager console", func() {
	It("is read again when its files change", func(ctx context.Context) {
		folder := GinkgoT().TempDir()
		write := func(host string) {
			certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
			Expect(err).NotTo(HaveOccurred())
			for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
				Expect(os.WriteFile(filepath.Join(folder, name), content, 0o600)).To(Succeed())
			}
		}
		write("first.example")
		console := start(ctx, "--certificate-dir", folder, "--host=first.example")
		served := func(host string) func() error {
			return func() error {
				unsigned := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // no authority has signed it
				connection, err := tls.Dial("tcp", console.address[len("https://"):], unsigned)
				if err != nil {
					return err
				}
				defer connection.Close()
				return connection.ConnectionState().PeerCertificates[0].VerifyHostname(host)
			}
		}
		Expect(served("first.example")()).To(Succeed())
		write("second.example")
		Eventually(served("second.example")).WithTimeout(30 * time.Second).Should(Succeed())
	})
})
