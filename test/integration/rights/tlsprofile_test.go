package rights

import (
	"context"
	"crypto/tls"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

// handshake returns a function that connects to an address with TLS up to a version.
func handshake(address string, version uint16) func() error {
	return func() error {
		config := &tls.Config{MaxVersion: version, InsecureSkipVerify: true} //nolint:gosec // the test needs it
		connection, err := tls.Dial("tcp", address, config)
		if err != nil {
			return err
		}
		return connection.Close()
	}
}

// expectProfile runs addon-manager with and without a profile.
func expectProfile(ctx context.Context) {
	GinkgoHelper()
	user := setup.Manager.User(ctx, hub, admin, "interlock-system", "system:serviceaccount:interlock-system:profiled")
	run := func() (*gexec.Session, string) {
		address := testenv.FreeAddress().String()
		return setup.Run(manager, "--kubeconfig", user.Kubeconfig, "--leader-elect=false", "--guard=off", "--metrics-secure",
			"--metrics-bind-address", address, "--health-probe-bind-address=0"), address
	}
	session, address := run()
	Eventually(handshake(address, tls.VersionTLS12)).WithTimeout(30 * time.Second).Should(Succeed())
	profile := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "interlock-system", Name: "ocm-tls-profile"},
		Data:       map[string]string{"minTLSVersion": "VersionTLS13"},
	}
	Expect(admin.Create(ctx, profile)).To(Succeed())
	DeferCleanup(admin.Delete, profile)
	Eventually(session).WithTimeout(30 * time.Second).Should(gexec.Exit(0))
	Expect(session.Err).To(gbytes.Say("TLS profile has changed"))

	session, address = run()
	Eventually(handshake(address, tls.VersionTLS13)).WithTimeout(30 * time.Second).Should(Succeed())
	Expect(handshake(address, tls.VersionTLS12)()).To(MatchError(ContainSubstring("protocol version")))
	Eventually(session.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
}
