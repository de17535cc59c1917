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

// servedBy returns an edge whose API is served by another cluster than the managed one.
func servedBy(server addonv1alpha1.APIServer, edge addonv1alpha1.AddonDependency, fields ...string) addonv1alpha1.AddonDependency {
	edge.API.ServedBy, edge.API.Fields = server, fields
	return edge
}

var _ = Describe("Edges on APIs of the hub", func() {
	var c *cluster
	var group, gateway, quiet string
	BeforeEach(func(ctx context.Context) {
		c = newCluster(ctx)
		group, gateway, quiet = unique("group")+".example.com", unique("gateway"), unique("quiet")
	})

	It("follow a CRD that is created and deleted on the hub, without a restart and without an agent", func(ctx context.Context) {
		m := startManager(ctx)
		register(ctx, quiet, addonv1alpha1.AddonDependency{Name: "missing"})
		c.install(ctx, quiet)
		Eventually(c.degraded(ctx, quiet)).Should(HavePrefix(failing))
		m.rest() // all other watches are open afterwards
		requestsBefore, watchesBefore := m.traffic.discoveries.Load(), m.traffic.openWatches.Load()

		By("an edge that requires the hub to serve the API")
		register(ctx, gateway, servedBy(addonv1alpha1.APIServerHub, onAPI("widgets", group, "Widget")))
		c.install(ctx, gateway)
		Eventually(c.degraded(ctx, gateway)).Should(Equal(
			"RequiredDependencyNotSatisfied: Required API 'Widget." + group + "' is not served by the hub. (not served)"))
		Expect(m.traffic.discoveries.Load()).To(BeNumerically(">", requestsBefore))
		Eventually(m.traffic.openWatches.Load).Should(BeNumerically("==", watchesBefore+2), "CRDs and APIServices")
		define(ctx, group, "Widget", "v1")
		versionBefore := must(c.resourceVersion(ctx, quiet))
		for range 2 {
			crd := defineOn(ctx, hub, group, "Widget", "v1")
			Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
			Expect(hub.Delete(ctx, crd)).To(Succeed())
			Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(failing))
		}
		Expect(must(c.resourceVersion(ctx, quiet))).To(Equal(versionBefore))
		Expect(apierrors.IsNotFound(func() error { _, err := c.facts(ctx)(); return err }())).To(BeTrue(), "no agent is needed")
		Expect(m.traffic.refusals.Load()).To(BeZero())

		By("no edge requiring it any more")
		declare(ctx, gateway, addonv1alpha1.AddonDependency{Name: "missing"})
		Eventually(m.traffic.openWatches.Load).Should(Equal(watchesBefore))
	})

	It("cause no write for other changes on the hub, or at a restart", func(ctx context.Context) {
		manager1 := startManager(ctx)
		register(ctx, gateway, servedBy(addonv1alpha1.APIServerHub, onAPI("widgets", group, "Widget")))
		c.install(ctx, gateway)
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(failing))
		defineOn(ctx, hub, group, "Widget", "v1")
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
		manager1.rest()
		evaluationsBefore, writesBefore := manager1.evaluations(), manager1.traffic.writes.Load()
		defineOn(ctx, hub, group, "Gadget", "v1")
		defineOn(ctx, hub, unique("other")+".example.com", "Widget", "v1")
		Consistently(manager1.evaluations).Should(Equal(evaluationsBefore))
		Expect(manager1.traffic.writes.Load()).To(Equal(writesBefore))
		manager1.end()

		versionBefore := must(c.resourceVersion(ctx, gateway))
		manager2 := startManager(ctx)
		Eventually(manager2.evaluations).Should(BeNumerically(">", 0))
		manager2.rest()
		Expect(must(c.resourceVersion(ctx, gateway))).To(Equal(versionBefore))
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
		clusters := []*cluster{c, newCluster(ctx), newCluster(ctx)}
		register(ctx, gateway, servedBy(addonv1alpha1.APIServerHub, onAPI("widgets", group, "Widget")))
		for _, cluster := range clusters {
			cluster.install(ctx, gateway)
		}
		for _, cluster := range clusters {
			Eventually(cluster.degraded(ctx, gateway)).Should(HavePrefix(failing))
		}
		m.rest()
		writesBefore := m.traffic.writes.Load()
		defineOn(ctx, hub, group, "Widget", "v1")
		for _, cluster := range clusters {
			Eventually(cluster.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
		}
		m.rest()
		Expect(m.traffic.writes.Load()-writesBefore).To(BeNumerically("<=", 2*len(clusters)), "a condition and an event each")
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
	setAvailable := func(ctx context.Context, name string, status metav1.ConditionStatus) {
		GinkgoHelper()
		object := &clusterv1.ManagedCluster{}
		if err := hub.Get(ctx, types.NamespacedName{Name: name}, object); apierrors.IsNotFound(err) {
			object.Name = name
			Expect(hub.Create(ctx, object)).To(Succeed())
			DeferCleanup(func(ctx context.Context) {
				Expect(hub.Delete(ctx, object)).To(Or(Succeed(), Satisfy(apierrors.IsNotFound)))
			})
		}
		meta.SetStatusCondition(&object.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Tested",
		})
		Expect(hub.Status().Update(ctx, object)).To(Succeed())
	}
	requestedOf := func(ctx context.Context, requester *cluster) func() ([]string, error) {
		return func() ([]string, error) {
			names, err := requester.requestedNames(ctx)()
			if apierrors.IsNotFound(err) {
				return nil, nil
			}
			return names, err
		}
	}
	const notServed = "is not served by hosting cluster '"

	It("follow the facts of the cluster that runs the agent", func(ctx context.Context) {
		c.install(ctx, gateway)
		c.startAgent()
		Eventually(c.degraded(ctx, gateway)).Should(
			And(HavePrefix(failing), ContainSubstring("is not served. (not served)")), "it runs its agent itself")

		By("a cluster that does not exist running it")
		hostOn(ctx, host.name)
		Eventually(c.degraded(ctx, gateway)).Should(
			And(ContainSubstring(notServed+host.name+"'"), ContainSubstring("the hub has no managed cluster of that name")))
		Eventually(requestedOf(ctx, c)).Should(BeEmpty())
		Consistently(requestedOf(ctx, host)).Should(BeEmpty(), "no agent could report")

		By("the cluster being registered, with an agent")
		setAvailable(ctx, host.name, metav1.ConditionTrue)
		Eventually(requestedOf(ctx, host)).Should(HaveExactElements("Widget"))
		host.startAgent()
		Eventually(c.degraded(ctx, gateway)).Should(ContainSubstring(notServed + host.name + "'. (not served)"))
		crd := define(ctx, group, "Widget", "v1")
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))

		By("the cluster being lost, which holds the verdict")
		setAvailable(ctx, host.name, metav1.ConditionUnknown)
		Expect(managed.Delete(ctx, crd)).To(Succeed())
		Eventually(host.reportedLines(ctx)).Should(HaveExactElements("Widget False"))
		Consistently(c.degraded(ctx, gateway)).Should(HavePrefix(satisfied))
		setAvailable(ctx, host.name, metav1.ConditionTrue)
		Eventually(c.degraded(ctx, gateway)).Should(ContainSubstring(notServed + host.name + "'. (not served)"))

		By("the managed cluster running it again")
		hostOn(ctx, "")
		Eventually(requestedOf(ctx, host)).Should(BeEmpty())
		Eventually(requestedOf(ctx, c)).Should(HaveExactElements("Widget"))
		Eventually(c.degraded(ctx, gateway)).Should(ContainSubstring("is not served. (not served)"))
	})

	It("stop requesting facts of a cluster whose last hosted add-on was deleted, and say where no agent reports", func(ctx context.Context) {
		setAvailable(ctx, host.name, metav1.ConditionTrue)
		c.install(ctx, gateway)
		hostOn(ctx, host.name)
		Eventually(requestedOf(ctx, host)).Should(HaveExactElements("Widget"))
		Eventually(c.degraded(ctx, gateway)).WithTimeout(recovery).Should(
			ContainSubstring(notServed + host.name + "'. (not known: the hosting cluster's addon-agent has not reported it)"))
		c.uninstall(ctx, gateway)
		Eventually(requestedOf(ctx, host)).Should(BeEmpty())
	})
})
