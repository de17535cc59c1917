package agent

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// recovery bounds how long the agent may take to notice the end of an outage, because client-go's watches wait up to a minute by then.
const recovery = 90 * time.Second

var _ = Describe("An outage", Serial, func() {
	var c *cluster
	BeforeEach(func(ctx context.Context) {
		c = newCluster(ctx)
		c.grace = 3 * time.Second
	})

	It("of the managed cluster's API server keeps the last state until its end", func(ctx context.Context) {
		exit := c.startAgent()
		renew(ctx, managed, c.name, "proxy", time.Now())
		c.install(ctx, "proxy")
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))

		Expect(fleet.Managed[0].StopAPIServer()).To(Succeed())
		By("the lease expiring meanwhile, as far as is known")
		Consistently(c.availability(ctx, "proxy")).WithTimeout(c.grace + 2*time.Second).Should(haveStatus("True", leaseUpdated))
		By("a dependency failing meanwhile")
		Expect(c.set(ctx, "proxy", degraded("True", required, missingGateway))).To(Succeed())
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("False", required))
		By("an add-on coming meanwhile, of which nothing can be known")
		c.install(ctx, "late")
		Consistently(c.availability(ctx, "late")).WithTimeout(time.Second).Should(haveStatus("", ""))

		Expect(fleet.Managed[0].StartAPIServer()).To(Succeed())
		Expect(c.set(ctx, "proxy", degraded("False", "DependenciesSatisfied", ""))).To(Succeed())
		Eventually(c.availability(ctx, "late")).WithTimeout(recovery).Should(haveStatus("Unknown", leaseNotFound))
		Eventually(c.availability(ctx, "proxy")).WithTimeout(recovery).Should(haveStatus("False", leaseStopped))
		renew(ctx, managed, c.name, "proxy", time.Now().Add(time.Hour))
		Eventually(c.availability(ctx, "proxy")).WithTimeout(recovery).Should(haveStatus("True", leaseUpdated))
		Expect(exit).NotTo(Receive())
	})

	It("of the hub is waited for, also at the start, and the changes meanwhile are written afterwards", func(ctx context.Context) {
		exit := c.startAgent()
		renew(ctx, managed, c.name, "proxy", time.Now().Add(2*time.Second))
		c.install(ctx, "proxy")
		Eventually(c.availability(ctx, "proxy")).Should(haveStatus("True", leaseUpdated))
		idle := newCluster(ctx)
		idle.install(ctx, "proxy")

		Expect(fleet.Hub.StopAPIServer()).To(Succeed())
		endedSecond := idle.startAgent()
		Consistently(endedSecond).WithTimeout(c.grace + 4*time.Second).ShouldNot(Receive())
		Expect(fleet.Hub.StartAPIServer()).To(Succeed())

		Eventually(c.availability(ctx, "proxy")).WithTimeout(recovery).Should(haveStatus("False", leaseStopped))
		Eventually(idle.availability(ctx, "proxy")).WithTimeout(recovery).Should(haveStatus("Unknown", leaseNotFound))
		Expect(exit).NotTo(Receive())
		By("observing later changes")
		c.install(ctx, "late")
		Eventually(c.availability(ctx, "late")).WithTimeout(recovery).Should(haveStatus("Unknown", leaseNotFound))
	})
})
