package agent

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var _ = Describe("The dependency rule", func() {
	var c *cluster
	BeforeEach(func(ctx context.Context) { c = newCluster(ctx) })

	It("turns an add-on in Lease mode off and on", func(ctx context.Context) {
		c.startAgent()
		renew(ctx, managed, c.name, "proxy", time.Now())
		c.install(ctx, "proxy")
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))

		Expect(c.set(ctx, "proxy", degraded("True", required, missingGateway))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(beWithMessage("False", required, missingGateway))

		By("renewing the lease meanwhile")
		renew(ctx, managed, c.name, "proxy", time.Now())
		Consistently(c.availability(ctx, "proxy")).WithTimeout(time.Second).Should(haveStatus("False", required))

		By("saying more of why")
		Expect(c.set(ctx, "proxy", degraded("True", required, missingGateway+"; and another"))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(beWithMessage("False", required, missingGateway+"; and another"))

		Expect(c.set(ctx, "proxy", degraded("True", "DependencyNotSatisfied", "an Optional one"))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))
		Expect(c.events(ctx)()).NotTo(ContainElement("Warning "+required), "addon-manager emits that")
	})

	It("follows the lease again, whatever its state", func(ctx context.Context) {
		c.startAgent()
		c.install(ctx, "proxy")
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("Unknown", leaseNotFound))
		Expect(c.set(ctx, "proxy", degraded("True", required, missingGateway))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("False", required))
		Expect(c.set(ctx, "proxy", degraded("False", "DependenciesSatisfied", ""))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("Unknown", leaseNotFound))
	})

	It("is asserted once where another writer replaces it by another reason", func(ctx context.Context) {
		c.startAgent()
		c.install(ctx, "proxy")
		Expect(c.set(ctx, "proxy", degraded("True", required, missingGateway))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("False", required))
		for _, foreign := range []metav1.Condition{available("Unknown", leaseNotFound), available("False", "ProbeUnavailable")} {
			Expect(c.set(ctx, "proxy", foreign)).To(Succeed())
			Consistently(c.availability(ctx, "proxy")).WithTimeout(time.Second).Should(haveStatus(foreign.Status, foreign.Reason))
		}

		By("True, and another finding")
		Expect(c.set(ctx, "proxy", available("True", leaseUpdated))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("False", required))
		Expect(c.set(ctx, "proxy", available("Unknown", leaseNotFound))).To(Succeed())
		Expect(c.set(ctx, "proxy", degraded("True", required, missingGateway+"; and another"))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(beWithMessage("False", required, missingGateway+"; and another"))
	})

	It("leaves the hub's report that the cluster is lost, whatever the state of the lease", func(ctx context.Context) {
		c.startAgent()
		renew(ctx, managed, c.name, "proxy", time.Now())
		c.install(ctx, "proxy")
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))
		lostCondition := available("Unknown", "ManagedClusterLeaseUpdateStopped")
		Expect(c.set(ctx, "proxy", lostCondition)).To(Succeed())
		Expect(c.set(ctx, "proxy", degraded("True", required, missingGateway))).To(Succeed())
		Consistently(c.availability(ctx, "proxy")).WithTimeout(time.Second).Should(haveStatus(lostCondition.Status, lostCondition.Reason))

		By("the registration agent being back")
		Expect(c.set(ctx, "proxy", available("Unknown", leaseNotFound))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("False", required))
	})

	It("hands an add-on in Customized mode back to its own health check", func(ctx context.Context) {
		c.install(ctx, "console", customized)
		c.startAgent()
		Expect(c.set(ctx, "console", available("True", "ProbeAvailable"))).To(Succeed())
		Consistently(c.availability(ctx, "console")).WithTimeout(time.Second).Should(haveStatus("True", "ProbeAvailable"))

		Expect(c.set(ctx, "console", degraded("True", required, missingGateway))).To(Succeed())
		Eventually(c.availability(ctx, "console")).Should(beWithMessage("False", required, missingGateway))

		Expect(c.set(ctx, "console", degraded("False", "DependenciesSatisfied", ""))).To(Succeed())
		Eventually(c.availability(ctx, "console")).Should(haveStatus("False", awaiting))

		for _, probeCondition := range []metav1.Condition{available("True", "ProbeAvailable"), available("False", "ProbeUnavailable")} {
			Expect(c.set(ctx, "console", probeCondition)).To(Succeed())
			Consistently(c.availability(ctx, "console")).WithTimeout(500 * time.Millisecond).
				Should(haveStatus(probeCondition.Status, probeCondition.Reason))
		}
		Expect(c.managedTraffic.recordedRequests()).To(BeEmpty(), "no lease is of interest in this mode")
	})

	It("does not await a health check for longer than the grace period", func(ctx context.Context) {
		c.grace = time.Second
		c.install(ctx, "console", customized)
		c.startAgent()
		Expect(c.set(ctx, "console", degraded("True", required, missingGateway))).To(Succeed())
		Eventually(c.availability(ctx, "console")).Should(beWithMessage("False", required, missingGateway))
		Expect(c.set(ctx, "console", degraded("False", "DependenciesSatisfied", ""))).To(Succeed())
		Eventually(c.availability(ctx, "console")).Should(haveStatus("Unknown", awaiting))
	})

	It("changes no other condition, and owns no other", func(ctx context.Context) {
		c.startAgent()
		c.install(ctx, "proxy")
		Expect(c.set(ctx, "proxy", metav1.Condition{Type: "Progressing", Status: "True", Reason: "Installing", Message: "wait"})).To(Succeed())
		Expect(c.set(ctx, "proxy", degraded("True", required, missingGateway))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("False", required))

		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		Expect(hub.Get(ctx, c.key("proxy"), addOn)).To(Succeed())
		Expect(meta.FindStatusCondition(addOn.Status.Conditions, "Progressing").Message).To(Equal("wait"))
		Expect(meta.FindStatusCondition(addOn.Status.Conditions, "Degraded").Message).To(Equal(missingGateway))
		for _, owner := range addOn.ManagedFields {
			if owner.Manager == "interlock-addon-agent" {
				Expect(owner.Subresource).To(Equal("status"))
				Expect(string(owner.FieldsV1.Raw)).To(And(
					ContainSubstring(`"type\":\"Available\"`), Not(ContainSubstring("Degraded")), Not(ContainSubstring("Progressing")),
				))
			}
		}
	})
})

var _ = Describe("A writer that keeps overwriting Available", func() {
	It("is corrected at growing intervals, and once more when it stops", func(ctx context.Context) {
		c := newCluster(ctx)
		c.startAgent()
		c.install(ctx, "proxy")
		Expect(c.set(ctx, "proxy", degraded("True", required, missingGateway))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("False", required))
		writesBefore := c.hubTraffic.writes()

		period, stop := context.WithTimeout(ctx, 5*time.Second)
		defer stop()
		overwritten := 0
		for period.Err() == nil { // as fast as the API server responds
			if c.set(period, "proxy", available("True", leaseUpdated)) == nil {
				overwritten++
			}
		}
		// The writes come at once, at once again, then after 0.5, 1 and 2 seconds.
		Expect(c.hubTraffic.writes()-writesBefore).To(And(BeNumerically(">=", 3), BeNumerically("<=", 6)), "overwritten %d times", overwritten)
		Expect(overwritten).To(BeNumerically(">", 10), "not much of a contest")

		Eventually(c.availability(ctx, "proxy")).WithTimeout(16 * time.Second).Should(haveStatus("False", required))
		Eventually(c.events(ctx)).Should(ContainElement("Warning AvailableContested"))
		Expect(c.series("proxy")).To(HaveKeyWithValue("interlock_agent_contested_conditions_total", BeNumerically(">=", 2)))
	})
})
