package webhook

import (
	"context"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/testenv"
)

// serveFrom makes the API server call replicas with the certificate of the folder.
func serveFrom(ctx context.Context, files *mounted, replicas ...string) {
	GinkgoHelper()
	withoutHandlers(ctx)
	url := balance(replicas...)
	configuration := admitBy(ctx, "by-files", url, files.authority.CertPEM)
	DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, configuration) })
	convertBy(ctx, url, files.authority.CertPEM)
	awaitAdmission(ctx)
}

// withoutSecrets returns a user with the permissions that remain if another tool makes the certificate.
func withoutSecrets(ctx context.Context, name string) *testenv.User {
	GinkgoHelper()
	user := grant(ctx, name)
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	Expect(hubClient.Delete(ctx, binding)).To(Succeed())
	return user
}

var _ = Describe("addon-manager webhook with a certificate from another issuer", func() {
	It("serves the certificate that is renewed on disk, and fails no request meanwhile", func(ctx context.Context) {
		files, address := mount(), testenv.FreeAddress().String()
		session := startWithFiles(withoutSecrets(ctx, "files"), address, files)
		serveFrom(ctx, files, address)
		oldCertificate, err := servedCertificate(address)
		Expect(err).NotTo(HaveOccurred())
		requests := startTraffic(ctx, map[string]func() error{
			"handshake": func() error { return convert(address, "localhost", files.authority.CertPEM) },
		})
		files.renew()
		Eventually(func() (bool, error) {
			current, err := servedCertificate(address)
			return err == nil && !current.Equal(oldCertificate), err
		}).WithTimeout(60 * time.Second).Should(BeTrue())
		Eventually(requests.count).WithArguments("handshake").Should(BeNumerically(">", 100))
		requests.expectNoFailures()
		Expect(session).NotTo(gexec.Exit())
		Expect(session.Err).NotTo(gbytes.Say("(?i)forbidden"))
	})
})

var _ = Describe("Bad requests for conversion", func() {
	It("fail one by one, and the process keeps serving", func(ctx context.Context) {
		files, address := mount(), testenv.FreeAddress().String()
		session := startWithFiles(withoutSecrets(ctx, "bad-requests"), address, files)
		for _, badRequest := range []struct {
			body   string
			code   int
			answer string
		}{
			{"", http.StatusBadRequest, "not a JSON object"},
			{"{]", http.StatusBadRequest, "not valid JSON"},
			{strings.Repeat(`{"a":`, 1<<18), http.StatusBadRequest, "not valid JSON"},
			{
				strings.Replace(review(1), "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v2", 1), http.StatusBadRequest,
				`"apiextensions.k8s.io/v2"`,
			},
			{strings.Replace(review(1), storage, "unknown/v7", 1), http.StatusOK, "cannot be converted by Interlock: unknown/v7 to "},
			{strings.Replace(review(1), "ClusterManagementAddOn", "Secret", 1), http.StatusOK, "only a ClusterManagementAddOn can"},
			{strings.Replace(review(1000), `"x"`, `"`+strings.Repeat("x", 80<<20)+`"`, 1), http.StatusRequestEntityTooLarge, "too large"},
		} {
			// A server that responds before it has read everything closes the connection. A client that is still writing may not see
			// the response.
			Eventually(func(g Gomega) {
				code, answer, err := post(address, "localhost", files.authority.CertPEM, badRequest.body)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(code).To(Equal(badRequest.code), answer)
				g.Expect(answer).To(And(ContainSubstring(badRequest.answer), Not(ContainSubstring(`"Success"`))))
			}).Should(Succeed())
		}
		code, answer, err := post(address, "localhost", files.authority.CertPEM, review(1000))
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(http.StatusOK))
		Expect(strings.Count(answer, betaVersion)).To(Equal(1000))
		Expect(session).NotTo(gexec.Exit())
	})
})

var _ = Describe("With all replicas of the webhook dead", func() {
	It("all objects stay readable and writable in the storage version, and recover by themselves", func(ctx context.Context) {
		files, user := mount(), withoutSecrets(ctx, "outage")
		addresses := []string{testenv.FreeAddress().String(), testenv.FreeAddress().String()}
		replicas := []*gexec.Session{startWithFiles(user, addresses[0], files), startWithFiles(user, addresses[1], files)}
		serveFrom(ctx, files, addresses...)
		create(ctx, clusterManagementAddOn(betaVersion, "survivor", declaredDependencies))
		Expect(hubClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "outage"}})).To(Succeed())
		create(ctx, managedClusterAddOn(storage, "survivor"))

		for _, replica := range replicas {
			replica.Kill().Wait(20 * time.Second)
		}
		Expect(hubClient.Get(ctx, types.NamespacedName{Name: "survivor"}, reference(betaVersion, "survivor"))).
			To(MatchError(ContainSubstring("conversion webhook")))
		By("applying objects that were written through v1beta1, which takes a conversion to compare")
		applied := client.ApplyConfigurationFromUnstructured(clusterManagementAddOn(storage, "survivor", nil))
		Expect(hubClient.Apply(
			ctx, applied, client.FieldOwner("applier"), client.ForceOwnership,
		)).To(MatchError(ContainSubstring("conversion webhook")))
		By("writing in all other ways")
		writeAll(ctx)

		startWithFiles(user, addresses[1], files)
		for name, expected := range map[string][]any{"survivor": declaredDependencies[:1], "born": required("born")} {
			Eventually(func(g Gomega) {
				object := reference(betaVersion, name)
				g.Expect(hubClient.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
				g.Expect(dependenciesOf(object)).To(Equal(expected))
			}).WithTimeout(60 * time.Second).Should(Succeed())
		}
		// Every other new connection still goes to the dead replica.
		Eventually(func() error {
			body := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"back":"again"}}}`))
			return hubClient.Patch(ctx, reference(betaVersion, "survivor"), body)
		}).Should(Succeed())
		Expect(dependenciesOf(readObject(ctx, storage, "survivor"))).To(Equal(declaredDependencies[:1]))
		awaitAdmission(ctx)
	})
})

// writeAll writes registrations and add-ons in all ways while no webhook converts. Admission lets pass writes that it would otherwise
// deny.
func writeAll(ctx context.Context) {
	GinkgoHelper()
	create(ctx, clusterManagementAddOn(storage, "born", required("born")))
	object := readObject(ctx, storage, "survivor")
	Expect(unstructured.SetNestedSlice(object.Object, declaredDependencies[:1], "spec", "dependencies")).To(Succeed())
	Expect(hubClient.Update(ctx, object)).To(Succeed())
	patch(ctx, storage, "survivor", `{"metadata":{"labels":{"a":"b"}}}`)
	patchStatus(ctx, storage, "survivor", `{"status":{"installProgressions":[]}}`)
	create(ctx, clusterManagementAddOn(storage, "short-lived", nil))
	Expect(hubClient.Delete(ctx, reference(storage, "short-lived"))).To(Succeed())

	for _, version := range []string{storage, betaVersion} {
		body := client.RawPatch(types.MergePatchType, []byte(
			`{"status":{"conditions":[{"type":"Available","status":"True","reason":"R","message":"",`+
				`"lastTransitionTime":"2026-03-01T10:00:00Z"}]}}`,
		))
		Expect(hubClient.Status().Patch(ctx, managedClusterAddOn(version, "survivor"), body)).To(Succeed())
	}
	create(ctx, managedClusterAddOn(storage, "born"))
}

func managedClusterAddOn(version, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	object.SetAPIVersion(version)
	object.SetKind("ManagedClusterAddOn")
	object.SetNamespace("outage")
	object.SetName(name)
	return object
}
