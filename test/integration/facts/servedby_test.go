package facts

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// servedBy has another cluster than the managed one serve the API of an edge.
func servedBy(by addonv1alpha1.APIServer, edge addonv1alpha1.AddonDependency, fields ...string) addonv1alpha1.AddonDependency {
	edge.API.ServedBy, edge.API.Fields = by, fields
	return edge
}

var _ = Describe("Edges on APIs of the hub", func() {
	var c *cluster
	var group, gateway, quiet string
	BeforeEach(func(ctx context.Context) {
		c = newCluster(ctx)
		group, gateway, quiet = unique("group")+".example.com", unique("gateway"), unique("quiet")
	})

	It("follow a CRD that comes and goes on the hub, without a restart and without an agent", func(ctx context.Context) {
		m := startManager(ctx)
		register(ctx, quiet, addonv1alpha1.AddonDependency{Name: "missing"})
		c.install(ctx, quiet)
		Eventually(c.degraded(ctx, quiet)).Should(HavePrefix(failing))
		m.rest() // until all other watches are open
		asked, watched := m.traffic.asked.Load(), m.traffic.watching.Load()

		By("an edge that requires the hub to serve the API")
		register(ctx, gateway, servedBy(addonv1alpha1.APIServerHub, onAPI("widgets", group, "Widget")))
		c.install(ctx, gateway)
		Eventually(c.degraded(ctx, gateway)).Should(Equal(
			"RequiredDependencyNotSatisfied: Required API 'Widget." + group + "' is not served by the hub. (not served)"))
		Expect(m.traffic.asked.Load()).To(BeNumerically(">", asked))
		Eventually(m.traffic.watching.Load).Should(BeNumerically("==", watched+2), "CRDs and APIServices")
		define(ctx, group, "Widget", "v1")
		before := now(c.resourceVersion(ctx, quiet))
		for range 2 {
			crd := defineOn(ctx, hub, group, "Widget", "v1")
			Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
			Expect(hub.Delete(ctx, crd)).To(Succeed())
			Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(failing))
		}
		Expect(now(c.resourceVersion(ctx, quiet))).To(Equal(before))
		Expect(apierrors.IsNotFound(func() error { _, err := c.facts(ctx)(); return err }())).To(BeTrue(), "no agent is needed")
		Expect(m.traffic.refused.Load()).To(BeZero())

		By("no edge requiring it any more")
		declare(ctx, gateway, addonv1alpha1.AddonDependency{Name: "missing"})
		Eventually(m.traffic.watching.Load).Should(Equal(watched))
	})

	It("write nothing for what changes on the hub besides, nor at a restart", func(ctx context.Context) {
		first := startManager(ctx)
		register(ctx, gateway, servedBy(addonv1alpha1.APIServerHub, onAPI("widgets", group, "Widget")))
		c.install(ctx, gateway)
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(failing))
		defineOn(ctx, hub, group, "Widget", "v1")
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
		first.rest()
		evaluated, written := first.evaluations(), first.traffic.writes.Load()
		defineOn(ctx, hub, group, "Gadget", "v1")
		defineOn(ctx, hub, unique("other")+".example.com", "Widget", "v1")
		Consistently(first.evaluations).Should(Equal(evaluated))
		Expect(first.traffic.writes.Load()).To(Equal(written))
		first.end()

		stored := now(c.resourceVersion(ctx, gateway))
		again := startManager(ctx)
		Eventually(again.evaluations).Should(BeNumerically(">", 0))
		again.rest()
		Expect(now(c.resourceVersion(ctx, gateway))).To(Equal(stored))
	})

	It("look up fields in the hub's schemas", func(ctx context.Context) {
		startManager(ctx)
		defineOn(ctx, hub, group, "Widget", "v1")
		register(ctx, gateway, servedBy(addonv1alpha1.APIServerHub, onAPI("widgets", group, "Widget"), "metadata.name", "spec.size"))
		c.install(ctx, gateway)
		Eventually(c.degraded(ctx, gateway)).Should(Equal("RequiredDependencyNotSatisfied: Required API 'Widget." + group +
			"' does not have the required fields on the hub. (served, but its schema has no field spec.size)"))
		declare(ctx, gateway, servedBy(addonv1alpha1.APIServerHub, onAPI("widgets", group, "Widget"), "metadata.name"))
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
	})

	It("reach every managed cluster", func(ctx context.Context) {
		m := startManager(ctx)
		others := []*cluster{c, newCluster(ctx), newCluster(ctx)}
		register(ctx, gateway, servedBy(addonv1alpha1.APIServerHub, onAPI("widgets", group, "Widget")))
		for _, one := range others {
			one.install(ctx, gateway)
		}
		for _, one := range others {
			Eventually(one.degraded(ctx, gateway)).Should(HavePrefix(failing))
		}
		m.rest()
		written := m.traffic.writes.Load()
		defineOn(ctx, hub, group, "Widget", "v1")
		for _, one := range others {
			Eventually(one.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
		}
		m.rest()
		Expect(m.traffic.writes.Load()-written).To(BeNumerically("<=", 2*len(others)), "a condition and an event each")
	})
})

var _ = Describe("Edges on APIs of the hosting cluster", func() {
	var c, host *cluster
	var group, gateway string
	BeforeEach(func(ctx context.Context) {
		c, host = newCluster(ctx), newCluster(ctx)
		group, gateway = unique("group")+".example.com", unique("gateway")
		startManager(ctx)
		register(ctx, gateway, servedBy(addonv1alpha1.APIServerHostingCluster, onAPI("widgets", group, "Widget")))
	})
	hostOn := func(ctx context.Context, name string) {
		GinkgoHelper()
		Eventually(func() error {
			addOn := &addonv1alpha1.ManagedClusterAddOn{}
			if err := hub.Get(ctx, types.NamespacedName{Namespace: c.name, Name: gateway}, addOn); err != nil {
				return err
			}
			metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, ocmv1alpha1.HostingClusterNameAnnotationKey, name)
			if name == "" {
				delete(addOn.Annotations, ocmv1alpha1.HostingClusterNameAnnotationKey)
			}
			return hub.Update(ctx, addOn)
		}).Should(Succeed())
	}
	is := func(ctx context.Context, name string, status metav1.ConditionStatus) {
		GinkgoHelper()
		joined := &clusterv1.ManagedCluster{}
		if err := hub.Get(ctx, types.NamespacedName{Name: name}, joined); apierrors.IsNotFound(err) {
			joined.Name = name
			Expect(hub.Create(ctx, joined)).To(Succeed())
			DeferCleanup(func(ctx context.Context) {
				Expect(hub.Delete(ctx, joined)).To(Or(Succeed(), Satisfy(apierrors.IsNotFound)))
			})
		}
		meta.SetStatusCondition(&joined.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Tested",
		})
		Expect(hub.Status().Update(ctx, joined)).To(Succeed())
	}
	requestedOf := func(ctx context.Context, of *cluster) func() ([]string, error) {
		return func() ([]string, error) {
			asked, err := of.asked(ctx)()
			if apierrors.IsNotFound(err) {
				return nil, nil
			}
			return asked, err
		}
	}
	const by = "is not served by hosting cluster '"

	It("follow the facts of the cluster that runs the agent", func(ctx context.Context) {
		c.install(ctx, gateway)
		c.startAgent()
		Eventually(c.degraded(ctx, gateway)).Should(
			And(HavePrefix(failing), ContainSubstring("is not served. (not served)")), "it runs its agent itself")

		By("a cluster that does not exist running it")
		hostOn(ctx, host.name)
		Eventually(c.degraded(ctx, gateway)).Should(
			And(ContainSubstring(by+host.name+"'"), ContainSubstring("the hub has no managed cluster of that name")))
		Eventually(requestedOf(ctx, c)).Should(BeEmpty())
		Consistently(requestedOf(ctx, host)).Should(BeEmpty(), "no agent could report")

		By("the cluster being registered, with an agent")
		is(ctx, host.name, metav1.ConditionTrue)
		Eventually(requestedOf(ctx, host)).Should(HaveExactElements("Widget"))
		host.startAgent()
		Eventually(c.degraded(ctx, gateway)).Should(ContainSubstring(by + host.name + "'. (not served)"))
		crd := define(ctx, group, "Widget", "v1")
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))

		By("the cluster being lost, which holds the verdict")
		is(ctx, host.name, metav1.ConditionUnknown)
		Expect(managed.Delete(ctx, crd)).To(Succeed())
		Eventually(host.answers(ctx)).Should(HaveExactElements("Widget False"))
		Consistently(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
		is(ctx, host.name, metav1.ConditionTrue)
		Eventually(c.degraded(ctx, gateway)).Should(ContainSubstring(by + host.name + "'. (not served)"))

		By("the managed cluster running it again")
		hostOn(ctx, "")
		Eventually(requestedOf(ctx, host)).Should(BeEmpty())
		Eventually(requestedOf(ctx, c)).Should(HaveExactElements("Widget"))
		Eventually(c.degraded(ctx, gateway)).Should(ContainSubstring("is not served. (not served)"))
	})

	It("stop requesting facts of a cluster whose last hosted add-on was deleted, and say where no agent reports", func(ctx context.Context) {
		is(ctx, host.name, metav1.ConditionTrue)
		c.install(ctx, gateway)
		hostOn(ctx, host.name)
		Eventually(requestedOf(ctx, host)).Should(HaveExactElements("Widget"))
		Eventually(c.degraded(ctx, gateway)).WithTimeout(recovery).Should(
			ContainSubstring(by + host.name + "'. (not known: the hosting cluster's addon-agent has not reported it)"))
		c.uninstall(ctx, gateway)
		Eventually(requestedOf(ctx, host)).Should(BeEmpty())
	})
})
