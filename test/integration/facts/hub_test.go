package facts

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var _ = Describe("The hub's questions", func() {
	var c *cluster
	var group, gateway, quiet string
	BeforeEach(func(ctx context.Context) {
		c = newCluster(ctx)
		group, gateway, quiet = unique("group")+".example.com", unique("gateway"), unique("quiet")
	})
	none := func(ctx context.Context) func() bool {
		return func() bool {
			_, err := c.facts(ctx)()
			return apierrors.IsNotFound(err)
		}
	}

	It("are there while anything is asked, and only then", func(ctx context.Context) {
		m := startManager(ctx)
		register(ctx, gateway, onVersion("proxy", ">= 1.0.0"), onAPI("widgets", group, "Widget"))
		register(ctx, quiet, addonv1alpha1.AddonDependency{Name: "proxy"})
		c.install(ctx, quiet)
		Eventually(c.degraded(ctx, quiet)).Should(HavePrefix("RequiredDependencyNotSatisfied: "))
		Expect(none(ctx)()).To(BeTrue(), "nothing is asked yet")

		By("an add-on that asks coming to the cluster")
		c.install(ctx, gateway)
		Eventually(c.asked(ctx)).Should(HaveExactElements("Widget", "proxy"))
		By("its registration asking less")
		declare(ctx, gateway, onAPI("widgets", group, "Widget"))
		Eventually(c.asked(ctx)).Should(HaveExactElements("Widget"))
		By("somebody changing the questions, or taking them away")
		meddled := now(c.facts(ctx))
		meddled.Spec = questions{AddOns: []addOn{{Name: "ghost"}}}
		Expect(hub.Update(ctx, meddled)).To(Succeed())
		Eventually(c.asked(ctx)).Should(HaveExactElements("Widget"))
		Expect(hub.Delete(ctx, now(c.facts(ctx)))).To(Succeed())
		Eventually(c.asked(ctx)).Should(HaveExactElements("Widget"))
		By("the add-on going")
		c.uninstall(ctx, gateway)
		Eventually(none(ctx)).Should(BeTrue())
		Expect(m.traffic.refused.Load()).To(BeZero())
	})

	It("are not written by an addon-manager that starts anew, and what is left over goes", func(ctx context.Context) {
		other := newCluster(ctx)
		other.ask(ctx, questions{APIs: []api{{Kind: "Pod"}}})
		register(ctx, gateway, onAPI("widgets", group, "Widget"))
		c.install(ctx, gateway)
		first := startManager(ctx)
		c.startAgent()
		Eventually(c.answers(ctx)).Should(HaveExactElements("Widget False"))
		Eventually(func() bool { _, err := other.facts(ctx)(); return apierrors.IsNotFound(err) }).Should(BeTrue())
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix("RequiredDependencyNotSatisfied: "))
		first.end()

		written := now(c.facts(ctx)).ResourceVersion
		again := startManager(ctx)
		Eventually(func() float64 { return again.standing("answered") }).Should(BeEquivalentTo(1))
		Consistently(again.traffic.writes.Load).Should(BeZero())
		Expect(now(c.facts(ctx)).ResourceVersion).To(Equal(written))
	})
})
