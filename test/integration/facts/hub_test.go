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

var _ = Describe("The facts that the hub requests", func() {
	var c *cluster
	var group, gateway, quiet string
	BeforeEach(func(ctx context.Context) {
		c = newCluster(ctx)
		group, gateway, quiet = unique("group")+".example.com", unique("gateway"), unique("quiet")
	})
	factsAbsent := func(ctx context.Context) func() bool {
		return func() bool {
			_, err := c.facts(ctx)()
			return apierrors.IsNotFound(err)
		}
	}

	It("exist only while facts are requested", func(ctx context.Context) {
		m := startManager(ctx)
		register(ctx, gateway, onVersion("proxy", ">= 1.0.0"), onAPI("widgets", group, "Widget"))
		register(ctx, quiet, addonv1alpha1.AddonDependency{Name: "proxy"})
		c.install(ctx, quiet)
		Eventually(c.degraded(ctx, quiet)).Should(HavePrefix("RequiredDependencyNotSatisfied: "))
		Expect(factsAbsent(ctx)()).To(BeTrue(), "nothing is asked yet")

		By("an add-on that asks coming to the cluster")
		c.install(ctx, gateway)
		Eventually(c.requestedNames(ctx)).Should(HaveExactElements("Widget", "proxy"))
		By("its registration asking less")
		declare(ctx, gateway, onAPI("widgets", group, "Widget"))
		Eventually(c.requestedNames(ctx)).Should(HaveExactElements("Widget"))
		By("another writer changing the requests, or removing them")
		meddled := must(c.facts(ctx))
		meddled.Spec = questions{AddOns: []addOn{{Name: "ghost"}}}
		Expect(hub.Update(ctx, meddled)).To(Succeed())
		Eventually(c.requestedNames(ctx)).Should(HaveExactElements("Widget"))
		Expect(hub.Delete(ctx, must(c.facts(ctx)))).To(Succeed())
		Eventually(c.requestedNames(ctx)).Should(HaveExactElements("Widget"))
		By("the add-on going")
		c.uninstall(ctx, gateway)
		Eventually(factsAbsent(ctx)).Should(BeTrue())
		Expect(m.traffic.refusals.Load()).To(BeZero())
	})

	It("take one write for each cluster, and few at a time, when a new edge concerns the whole fleet", func(ctx context.Context) {
		const size = 60
		m := startManager(ctx)
		register(ctx, gateway)
		var clusters []*cluster
		for range size {
			member := &cluster{name: unique("many")}
			Expect(hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: member.name}})).To(Succeed())
			member.install(ctx, gateway)
			clusters = append(clusters, member)
		}
		Eventually(m.evaluations).Should(BeNumerically(">=", size))
		m.rest()
		factsBefore := m.traffic.facts.Load() // earlier specs removed the facts of their clusters
		declare(ctx, gateway, onAPI("widgets", group, "Widget"))
		Eventually(func() float64 { return m.clustersInState("waiting") }).Should(BeEquivalentTo(size))
		for _, member := range clusters {
			Eventually(member.requestedNames(ctx)).Should(HaveExactElements("Widget"))
		}
		Consistently(m.traffic.facts.Load).Should(BeEquivalentTo(factsBefore + size))
		Expect(m.traffic.factsMost.Load()).To(BeNumerically("<=", 8))
	})

	It("are not written by an addon-manager that restarts, which deletes leftovers", func(ctx context.Context) {
		secondCluster := newCluster(ctx)
		secondCluster.request(ctx, questions{APIs: []apiRequest{{API: api{Kind: "Pod"}}}})
		register(ctx, gateway, onAPI("widgets", group, "Widget"))
		c.install(ctx, gateway)
		manager1 := startManager(ctx)
		c.startAgent()
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Widget False"))
		Eventually(func() bool { _, err := secondCluster.facts(ctx)(); return apierrors.IsNotFound(err) }).Should(BeTrue())
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix("RequiredDependencyNotSatisfied: "))
		manager1.end()

		versionBefore := must(c.facts(ctx)).ResourceVersion
		manager2 := startManager(ctx)
		Eventually(func() float64 { return manager2.clustersInState("answered") }).Should(BeEquivalentTo(1))
		Consistently(manager2.traffic.writes.Load).Should(BeZero())
		Expect(must(c.facts(ctx)).ResourceVersion).To(Equal(versionBefore))
	})
})
