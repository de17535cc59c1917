package agent

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var _ = Describe("An add-on in Lease mode", func() {
	var c *cluster
	BeforeEach(func(ctx context.Context) { c = newCluster(ctx) })

	It("follows its lease: missing, fresh, expired, renewed again, deleted", func(ctx context.Context) {
		c.grace = 2 * time.Second
		c.startAgent()
		c.install(ctx, "proxy")
		Eventually(c.availability(ctx, "proxy")).Should(beWithMessage("Unknown", leaseNotFound, "The status of proxy add-on is unknown."))

		renewedAt := time.Now()
		renew(ctx, managed, c.name, "proxy", renewedAt)
		Eventually(c.availability(ctx, "proxy")).Should(beWithMessage("True", leaseUpdated, "proxy add-on is available."))

		Eventually(c.availability(ctx, "proxy")).Should(beWithMessage("False", leaseStopped, "proxy add-on is not available."))
		Expect(time.Since(renewedAt)).To(And(BeNumerically(">=", c.grace), BeNumerically("<", c.grace+5*time.Second)),
			"expiry is noticed by a timer, not by polling")

		renew(ctx, managed, c.name, "proxy", time.Now())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))

		Expect(managed.Delete(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: "proxy"}})).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("Unknown", leaseNotFound))

		Eventually(c.events(ctx)).Should(ConsistOf("Warning "+leaseNotFound, "Warning "+leaseStopped, "Warning "+leaseNotFound))
		Expect(c.series("proxy")).To(And(
			HaveKeyWithValue("interlock_agent_condition_writes_total", BeNumerically(">=", 5)),
			HaveKeyWithValue("interlock_agent_leases_watched", 1.0)))
	})

	It("counts as stopped with a lease that was never renewed", func(ctx context.Context) {
		c.startAgent()
		renew(ctx, managed, c.name, "proxy", time.Time{})
		c.install(ctx, "proxy")
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("False", leaseStopped))

		By("and no other add-on")
		renew(ctx, managed, c.name, "other", time.Now())
		c.install(ctx, "other")
		Eventually(c.availability(ctx, "other")).Should(haveStatus("True", leaseUpdated))
		Expect(c.series("other")).To(HaveKeyWithValue("interlock_agent_leases_watched", 1.0))
	})

	It("is available with a lease renewed in the future, which gets an event", func(ctx context.Context) {
		c.startAgent()
		renew(ctx, managed, c.name, "proxy", time.Now().Add(50*time.Hour))
		c.install(ctx, "proxy")
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))
		Eventually(c.events(ctx)).Should(ContainElement("Warning LeaseRenewedInFuture"))
		Expect(c.series("proxy")).To(HaveKeyWithValue("interlock_agent_lease_skew_seconds", BeNumerically("~", 50*3600, 60)))

		renew(ctx, managed, c.name, "proxy", time.Now())
		Eventually(func() map[string]float64 { return c.series("proxy") }).ShouldNot(HaveKey("interlock_agent_lease_skew_seconds"))
	})

	It("has its lease read in its installation namespace", func(ctx context.Context) {
		c.startAgent()
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.name + "-other"}}
		Expect(managed.Create(ctx, namespace)).To(Succeed())
		fallback := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "open-cluster-management-agent-addon"}}
		Expect(client.IgnoreAlreadyExists(managed.Create(ctx, fallback))).To(Succeed())

		renew(ctx, managed, namespace.Name, "in-status", time.Now())
		c.install(ctx, "in-status", func(a *addonv1alpha1.ManagedClusterAddOn) { a.Status.Namespace = namespace.Name })
		Eventually(c.availability(ctx, "in-status")).Should(haveStatus("True", leaseUpdated))

		renew(ctx, managed, fallback.Name, "by-default", time.Now())
		c.install(ctx, "by-default", func(a *addonv1alpha1.ManagedClusterAddOn) {
			a.Spec.InstallNamespace = "" //nolint:staticcheck // deprecated, and still where OCM installs an add-on
		})
		Eventually(c.availability(ctx, "by-default")).Should(haveStatus("True", leaseUpdated))

		By("following it when it moves")
		c.report(ctx, "in-status", map[string]any{"namespace": c.name})
		Eventually(c.availability(ctx, "in-status")).Should(haveStatus("Unknown", leaseNotFound))
	})

	It("has its lease read on the hosting cluster if it is hosted", func(ctx context.Context) {
		c.startAgent()
		renew(ctx, managed, c.name, "proxy", time.Now()) // the agent does not use this lease
		c.install(ctx, "proxy", hostedBy("mgmt"))
		Eventually(c.availability(ctx, "proxy")).Should(beWithMessage("Unknown", leaseNotFound,
			`The status of proxy add-on is unknown. No lease found on hosting cluster "mgmt"; verify it matches the cluster `+
				`where this managed cluster's klusterlet actually runs.`))

		renew(ctx, hosting, c.name, "proxy", time.Now())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))

		By("no longer being hosted")
		patch := client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"annotations":{"addon.open-cluster-management.io/hosting-cluster-name":null}}}`))
		Expect(managed.Delete(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: "proxy"}})).To(Succeed())
		Expect(hub.Patch(
			ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: "proxy"}}, patch,
		)).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(beWithMessage("Unknown", leaseNotFound, "The status of proxy add-on is unknown."))
	})

	It("is decided again when it is deleted and created again", func(ctx context.Context) {
		c.startAgent()
		renew(ctx, managed, c.name, "proxy", time.Now())
		for range 3 {
			c.install(ctx, "proxy")
			Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))
			Expect(hub.Delete(
				ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: "proxy"}},
			)).To(Succeed())
		}
		Eventually(func() map[string]float64 { return c.series("proxy") }).Should(BeEmpty(), "series are deleted with the add-on")
	})

	It("is not written in steady state, whatever its lease does", func(ctx context.Context) {
		c.startAgent()
		renew(ctx, managed, c.name, "proxy", time.Now())
		c.install(ctx, "proxy")
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))
		version, err := c.version(ctx, "proxy")()
		Expect(err).NotTo(HaveOccurred())
		writesBefore := c.hubTraffic.count(isWrite)

		By("renewing the lease 40 times, and another writer wording it differently")
		for range 40 {
			renew(ctx, managed, c.name, "proxy", time.Now())
		}
		Consistently(c.version(ctx, "proxy")).WithTimeout(2 * time.Second).Should(Equal(version))
		Expect(c.set(
			ctx, "proxy", metav1.Condition{Type: "Available", Status: "True", Reason: leaseUpdated, Message: "another message"},
		)).To(Succeed())
		Consistently(c.availability(ctx, "proxy")).WithTimeout(time.Second).Should(beWithMessage("True", leaseUpdated, "another message"))
		Expect(c.hubTraffic.count(isWrite)).To(Equal(writesBefore))
	})
})
