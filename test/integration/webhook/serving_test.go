package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/conversion"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	namespace  = "interlock-system"
	serverName = "interlock-webhook." + namespace + ".svc"
)

// grant gives a new user the permissions of the webhook in deploy/hub.
func grant(ctx context.Context, name string) *testenv.User {
	GinkgoHelper()
	return setup.Webhook.User(ctx, hub, hubClient, namespace, name)
}

// convert sends a review to a replica as the API server would. It trusts only the injected authority.
func convert(address, serverName string, authority []byte) error {
	code, body, err := post(address, serverName, authority, review(1))
	if err == nil && (code != http.StatusOK || !strings.Contains(body, betaVersion)) {
		err = fmt.Errorf("code %d: %s", code, body)
	}
	return err
}

// review returns a request for the conversion of a number of objects.
func review(objects int) string {
	object := fmt.Sprintf(`{"apiVersion":%q,"kind":"ClusterManagementAddOn","metadata":{"name":"x"}}`, storage)
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"1","desiredAPIVersion":%q,
		"objects":[%s]}}`, betaVersion, strings.Join(slices.Repeat([]string{object}, objects), ","))
}

// post sends a body to the conversion on a connection of its own.
func post(address, serverName string, authority []byte, body string) (int, string, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return 0, "", fmt.Errorf("no certificate authority in %q", authority)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: serverName}, DisableKeepAlives: true}
	requests := &http.Client{Transport: transport, Timeout: 10 * time.Second}
	response, err := requests.Post("https://"+address+conversion.Path, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

func injectedCA(ctx context.Context) ([]byte, error) {
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	err := hubClient.Get(ctx, client.ObjectKey{Name: "interlock-webhook"}, &configuration)
	if err != nil {
		return nil, err
	}
	return configuration.Webhooks[0].ClientConfig.CABundle, nil
}

var _ = Describe("addon-manager webhook with the rights of deploy/hub", func() {
	It("serves in two replicas by certificates of its own, which follow a new CA", func(ctx context.Context) {
		secret := deploySecret(ctx)
		deployConfigMap(ctx)
		deployConfigurations(ctx)
		user := grant(ctx, "webhook")
		replicas := map[string]*gexec.Session{}
		for range 2 {
			address := testenv.FreeAddress().String()
			session, err := gexec.Start(exec.Command(managerBinary, "webhook", "--kubeconfig", user.Kubeconfig, "--namespace", namespace,
				"--webhook-bind-address", address, "--metrics-bind-address=0", "--health-probe-bind-address=0"), nil, GinkgoWriter)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func() { session.Kill().Wait() })
			replicas[address] = session
		}
		By("no addon-manager leading yet")
		Eventually(publishedCA(ctx)).ShouldNot(BeEmpty())
		Expect(injectedCA(ctx)).To(BeEmpty())
		lead(ctx, "leader-of-serving")

		serve := func(g Gomega) []byte {
			authority, err := injectedCA(ctx)
			g.Expect(err).NotTo(HaveOccurred())
			for address := range replicas {
				g.Expect(convert(address, serverName, authority)).To(Succeed())
			}
			return authority
		}
		var authority1 []byte
		Eventually(func(g Gomega) { authority1 = serve(g) }).WithTimeout(60 * time.Second).Should(Succeed())

		By("losing the CA")
		Expect(hubClient.Patch(ctx, secret, client.RawPatch("application/merge-patch+json", []byte(`{"data":null}`)))).To(Succeed())
		start := time.Now()
		Eventually(func(g Gomega) {
			g.Expect(serve(g)).NotTo(Equal(
				authority1,
			))
		}).WithTimeout(60 * time.Second).WithPolling(50 * time.Millisecond).Should(Succeed())
		AddReportEntry("served by the new CA after", time.Since(start).String())

		for _, session := range replicas {
			Eventually(session.Terminate()).WithTimeout(20 * time.Second).Should(gexec.Exit(0))
			Expect(session.Err).NotTo(gbytes.Say("(?i)forbidden"))
		}
	})
})
