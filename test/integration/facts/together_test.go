package facts

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	failing   = "RequiredDependencyNotSatisfied: "
	satisfied = "DependenciesSatisfied: "
)

// resourceVersion returns the resourceVersion of an add-on on the cluster.
func (c *cluster) resourceVersion(ctx context.Context, addOn string) func() (string, error) {
	return func() (string, error) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		err := hub.Get(ctx, types.NamespacedName{Namespace: c.name, Name: addOn}, object)
		return object.ResourceVersion, err
	}
}

// awaitAvailable waits until the agent reports that an add-on is available.
func (c *cluster) awaitAvailable(ctx context.Context, addOn, version string) {
	GinkgoHelper()
	c.install(ctx, addOn)
	c.run(ctx, addOn, version)
	Eventually(func() (bool, error) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		err := hub.Get(ctx, types.NamespacedName{Namespace: c.name, Name: addOn}, object)
		return meta.IsStatusConditionTrue(object.Status.Conditions, "Available"), err
	}).Should(BeTrue())
}

var _ = Describe("Hub and agent together", func() {
	var c *cluster
	var m *manager
	var group, gateway, base, quiet string
	BeforeEach(func(ctx context.Context) {
		c = newCluster(ctx)
		group, gateway, base, quiet = unique("group")+".example.com", unique("gateway"), unique("base"), unique("quiet")
		m = startManager(ctx)
		c.startAgent()
	})

	It("have an edge on an API follow a CRD that is created and deleted on the managed cluster", func(ctx context.Context) {
		register(ctx, gateway, onAPI("widgets", group, "Widget"))
		c.install(ctx, gateway)
		Eventually(c.degraded(ctx, gateway)).Should(And(HavePrefix(failing), ContainSubstring("not served")))
		for range 2 {
			crd := define(ctx, group, "Widget", "v1")
			Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
			Expect(managed.Delete(ctx, crd)).To(Succeed())
			Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(failing))
		}
	})

	It("evaluate only the edges on an add-on whose version is reported anew", func(ctx context.Context) {
		independent := unique("other")
		register(ctx, base)
		register(ctx, gateway, onVersion(base, ">= 1.0.0"))
		register(ctx, quiet, addonv1alpha1.AddonDependency{Name: base})
		register(ctx, independent, onAPI("widgets", group, "Widget"))
		c.awaitAvailable(ctx, base, "0.9.0")
		for _, addOn := range []string{gateway, quiet, independent} {
			c.install(ctx, addOn)
		}
		Eventually(c.degraded(ctx, gateway)).Should(And(HavePrefix(failing), ContainSubstring("0.9.0")))
		Eventually(c.degraded(ctx, independent)).Should(And(HavePrefix(failing), ContainSubstring("not served")))
		Eventually(c.reportedLines(ctx)).Should(ContainElements("Widget False", base+" 0.9.0"))
		m.rest()
		evaluationsBefore := m.evaluations()
		versionBefore, otherBefore := must(c.resourceVersion(ctx, quiet)), must(c.resourceVersion(ctx, independent))
		c.run(ctx, base, "1.0.0")
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
		Consistently(m.evaluations).WithTimeout(500*time.Millisecond).Should(
			BeNumerically("<=", evaluationsBefore+2), "the dependent, and again for its own write",
		)
		Expect(must(c.resourceVersion(ctx, quiet))).To(Equal(versionBefore))
		Expect(must(c.resourceVersion(ctx, independent))).To(Equal(otherBefore))
	})

	It("restore a deleted object, and reports that another writer forged", func(ctx context.Context) {
		define(ctx, group, "Widget", "v1")
		register(ctx, gateway, onAPI("widgets", group, "Widget"), onAPI("gadgets", group, "Gadget"))
		c.install(ctx, gateway)
		Eventually(c.degraded(ctx, gateway)).Should(And(HavePrefix(failing), ContainSubstring("Gadget")))
		Expect(retry.OnError(retry.DefaultRetry, func(error) bool { return true }, func() error {
			return hub.Delete(ctx, must(c.facts(ctx)))
		})).To(Succeed())
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Gadget False", "Widget True v1"))

		c.meddle(ctx, map[string]any{"apis": []any{map[string]any{"group": group, "kind": "Gadget", "served": "True"}}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Gadget False", "Widget True v1"))
		Eventually(c.degraded(ctx, gateway)).Should(And(HavePrefix(failing), ContainSubstring("Gadget"), Not(ContainSubstring("Widget"))))
	})
})

var _ = Describe("Agents that do not report", Ordered, Serial, func() {
	var silent *cluster
	var m *manager
	var group, gateway string

	BeforeAll(func(ctx context.Context) {
		silent, group, gateway = newCluster(ctx), unique("group")+".example.com", unique("gateway")
		m = startManager(ctx)
		register(ctx, gateway, onAPI("widgets", group, "Widget"))
		silent.install(ctx, gateway)
		Eventually(silent.requestedNames(ctx)).Should(HaveExactElements("Widget"))
		Eventually(func() float64 { return m.clustersInState("waiting") }).Should(BeEquivalentTo(1))
		By("holding the verdict for as long as an agent may take")
		Expect(must(silent.degraded(ctx, gateway))).To(BeEmpty())
	})

	It("because the managed cluster's API server is unavailable change nothing, and report the changes afterwards", func(ctx context.Context) {
		c, otherAddOn := newCluster(ctx), unique("other")
		crd := define(ctx, group, "Gadget", "v1")
		register(ctx, otherAddOn, onAPI("gadgets", group, "Gadget"), onVersion("proxy", ">= 1.0.0"))
		c.startAgent()
		c.install(ctx, otherAddOn)
		c.install(ctx, "proxy")
		c.run(ctx, "proxy", "1.0.0")
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Gadget True v1", "proxy 1.0.0"))
		versionBefore := must(c.facts(ctx)).ResourceVersion

		Expect(fleet.Managed[0].StopAPIServer()).To(Succeed())
		Consistently(func() string { return must(c.facts(ctx)).ResourceVersion }).WithTimeout(3 * time.Second).Should(Equal(versionBefore))
		By("restarting meanwhile")
		c.stopAgent()
		c.startAgent()
		Consistently(func() string { return must(c.facts(ctx)).ResourceVersion }).WithTimeout(3 * time.Second).Should(Equal(versionBefore))
		Expect(fleet.Managed[0].StartAPIServer()).To(Succeed())
		Eventually(func() error { return managed.Delete(ctx, crd) }).WithTimeout(recovery).Should(Succeed())
		Eventually(c.reportedLines(ctx)).WithTimeout(recovery).Should(HaveExactElements("Gadget False", "proxy 1.0.0"))
	})

	It("because the hub is unavailable report when it is back", func(ctx context.Context) {
		c, otherAddOn := newCluster(ctx), unique("other")
		register(ctx, otherAddOn, onAPI("gadgets", group, "Gadget"))
		c.install(ctx, otherAddOn)
		c.startAgent()
		Eventually(c.degraded(ctx, otherAddOn)).Should(HavePrefix(failing))

		Expect(fleet.Hub.StopAPIServer()).To(Succeed())
		define(ctx, group, "Gadget", "v1")
		Consistently(c.agentEnded).ShouldNot(Receive())
		Consistently(m.exit).ShouldNot(Receive())
		Expect(fleet.Hub.StartAPIServer()).To(Succeed())
		Eventually(c.reportedLines(ctx)).WithTimeout(recovery).Should(HaveExactElements("Gadget True v1"))
		Eventually(c.degraded(ctx, otherAddOn)).WithTimeout(recovery).Should(HavePrefix(satisfied))
	})

	It("because they are too old cause an event, until an agent reports", func(ctx context.Context) {
		Eventually(silent.degraded(ctx, gateway)).WithTimeout(recovery).Should(And(HavePrefix(failing), ContainSubstring("has not reported it")))
		define(ctx, group, "Widget", "v1")
		silent.startAgent()
		Eventually(silent.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
	})
})
