package agent

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"open-cluster-management.io/interlock/test/testenv"
)

func startProcess(flags ...string) *gexec.Session {
	GinkgoHelper()
	command := exec.Command(binary, flags...)
	command.Env = []string{"HOME=" + GinkgoT().TempDir()} // without the KUBECONFIG of the test's environment
	session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait() })
	return session
}

func statusCode(url string) func() (int, error) {
	return func() (int, error) {
		response, err := http.Get(url)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
}

var _ = Describe("The command addon-agent", func() {
	hubFile := func() string { return fleet.Hub.Kubeconfig() }
	DescribeTable("refuses flags that cannot work", func(message string, flags func() []string) {
		session := startProcess(flags()...)
		Eventually(session).Should(gexec.Exit(2))
		Expect(session.Err).To(gbytes.Say(message))
	},
		Entry("no cluster", "--cluster-name is required", func() []string { return []string{"--hub-kubeconfig", hubFile()} }),
		Entry(
			"a cluster that cannot be", `--cluster-name="No_Name": `,
			func() []string { return []string{"--cluster-name=No_Name", "--hub-kubeconfig", hubFile()} },
		),
		Entry("no hub", "--hub-kubeconfig is required", func() []string { return []string{"--cluster-name=c"} }),
		Entry(
			"a hub kubeconfig that is not there", `--hub-kubeconfig="/nowhere": `,
			func() []string { return []string{"--cluster-name=c", "--hub-kubeconfig=/nowhere"} },
		),
		Entry(
			"a hub kubeconfig that is none", `--hub-kubeconfig=".*suite_test.go": `,
			func() []string { return []string{"--cluster-name=c", "--hub-kubeconfig", absolute("suite_test.go")} },
		),
		Entry(
			"no managed cluster to be found", `--kubeconfig="": `,
			func() []string { return []string{"--cluster-name=c", "--hub-kubeconfig", hubFile()} },
		),
		Entry("a missing hosting kubeconfig", `--hosting-kubeconfig="/nowhere": `, func() []string {
			return []string{"--cluster-name=c", "--hub-kubeconfig", hubFile(), "--kubeconfig", hubFile(), "--hosting-kubeconfig=/nowhere"}
		}),
		Entry("an invalid grace period", `--lease-grace-period=0s: `, func() []string {
			return []string{"--cluster-name=c", "--hub-kubeconfig", hubFile(), "--lease-grace-period=0"}
		}),
		Entry(
			"a grace period that is no duration", `five.*--lease-grace-period`,
			func() []string { return []string{"--lease-grace-period=five"} },
		),
		Entry("an own lease without a namespace", `--own-lease="lease": must be namespace/name`, func() []string {
			return []string{"--cluster-name=c", "--hub-kubeconfig", hubFile(), "--own-lease=lease"}
		}),
		Entry("an unknown log format", `--log-format="xml": `, func() []string {
			return []string{"--cluster-name=c", "--hub-kubeconfig", hubFile(), "--log-format=xml"}
		}),
		Entry("an unknown flag", `unknown flag: --leader-elect`, func() []string { return []string{"--leader-elect"} }),
		Entry("an argument", `unknown command "cluster1"`, func() []string { return []string{"cluster1"} }),
	)

	It("runs, serves its health, logs JSON, and ends cleanly on SIGTERM", func(ctx context.Context) {
		c := newCluster(ctx)
		c.install(ctx, "proxy")
		health, metrics := testenv.FreeAddress().String(), testenv.FreeAddress().String()
		session := startProcess("--cluster-name", c.name, "--hub-kubeconfig", hubFile(), "--kubeconfig", fleet.Managed[0].Kubeconfig(),
			"--health-probe-bind-address", health, "--metrics-bind-address", metrics, "--log-format=json", "-v=1")
		Eventually(statusCode("http://" + health + "/readyz")).Should(Equal(http.StatusOK))
		Eventually(statusCode("http://" + health + "/healthz")).Should(Equal(http.StatusOK))
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("Unknown", leaseNotFound))
		Eventually(statusCode("http://" + metrics + "/metrics")).Should(Equal(http.StatusOK))
		Eventually(session.Err).Should(gbytes.Say(`{"level":"info".*"msg":"Available changed".*"reason":"ManagedClusterAddOnLeaseNotFound"`))

		session.Signal(syscall.SIGTERM)
		Eventually(session).Should(gexec.Exit(0))
	})

	It("waits for a hub that is down, is not ready, and ends cleanly on SIGTERM", func() {
		kubeconfig := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
		writeFile(kubeconfig, fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c",`+
			`"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{}}],`+
			`"clusters":[{"name":"c","cluster":{"server":"https://%s"}}]}`, testenv.FreeAddress().String()))
		health := testenv.FreeAddress().String()
		session := startProcess("--cluster-name=c", "--hub-kubeconfig", kubeconfig, "--kubeconfig", kubeconfig,
			"--health-probe-bind-address", health, "--metrics-bind-address=0")
		Eventually(statusCode("http://" + health + "/healthz")).Should(Equal(http.StatusOK))
		Consistently(statusCode("http://" + health + "/readyz")).WithTimeout(2 * time.Second).Should(Equal(http.StatusInternalServerError))

		session.Signal(syscall.SIGTERM)
		Eventually(session).Should(gexec.Exit(0))
	})
})

func absolute(path string) string {
	GinkgoHelper()
	full, err := filepath.Abs(path)
	Expect(err).NotTo(HaveOccurred())
	return full
}

func writeFile(path, content string) {
	GinkgoHelper()
	Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
}
