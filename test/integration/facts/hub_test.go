package facts

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

	It("are one write for each cluster, few of them at a time, when a new edge asks the whole fleet", func(ctx context.Context) {
		const size = 60
		m := startManager(ctx)
		register(ctx, gateway)
		var clusters []*cluster
		for range size {
			one := &cluster{name: unique("many")}
			Expect(hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: one.name}})).To(Succeed())
			one.install(ctx, gateway)
			clusters = append(clusters, one)
		}
		Eventually(m.evaluations).Should(BeNumerically(">=", size))
		m.rest()
		before := m.traffic.facts.Load() // what other specs left behind was removed
		declare(ctx, gateway, onAPI("widgets", group, "Widget"))
		Eventually(func() float64 { return m.standing("waiting") }).Should(BeEquivalentTo(size))
		for _, one := range clusters {
			Eventually(one.asked(ctx)).Should(HaveExactElements("Widget"))
		}
		Consistently(m.traffic.facts.Load).Should(BeEquivalentTo(before + size))
		Expect(m.traffic.factsMost.Load()).To(BeNumerically("<=", 8))
	})

	It("are not written by an addon-manager that starts anew, and what is left over goes", func(ctx context.Context) {
		other := newCluster(ctx)
		other.ask(ctx, questions{APIs: []apiRequest{{API: api{Kind: "Pod"}}}})
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
