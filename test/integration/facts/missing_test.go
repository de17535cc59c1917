package facts

import (
	"context"
	"io/fs"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/manifests"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

func removeCRD(ctx context.Context) {
	GinkgoHelper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: dependencyv1alpha1.CRDName}}
	Expect(client.IgnoreNotFound(hub.Delete(ctx, crd))).To(Succeed())
	Eventually(func() bool {
		return apierrors.IsNotFound(hub.Get(ctx, client.ObjectKeyFromObject(crd), crd)) &&
			apierrors.IsNotFound(hub.List(ctx, &dependencyv1alpha1.ManagedClusterFactsList{}))
	}).Should(BeTrue())
}

func installCRD(ctx context.Context) {
	GinkgoHelper()
	paths, err := fs.Glob(manifests.CRDs, "crds/*managedclusterfacts*")
	Expect(err).NotTo(HaveOccurred())
	Expect(paths).To(HaveLen(1))
	content, err := manifests.CRDs.ReadFile(paths[0])
	Expect(err).NotTo(HaveOccurred())
	crd := &apiextensionsv1.CustomResourceDefinition{}
	Expect(yaml.UnmarshalStrict(content, crd)).To(Succeed())
	Expect(client.IgnoreAlreadyExists(hub.Create(ctx, crd))).To(Succeed())
	Eventually(func() error { return hub.List(ctx, &dependencyv1alpha1.ManagedClusterFactsList{}) }).Should(Succeed())
}

var _ = Describe("A hub without the CRD", Serial, func() {
	var c *cluster
	var group string
	BeforeEach(func(ctx context.Context) {
		c = newCluster(ctx)
		group = unique("group") + ".example.com"
		removeCRD(ctx)
		DeferCleanup(installCRD)
	})

	It("has agents that work without it, and use it when it is installed, also for the second time", func(ctx context.Context) {
		c.startAgent()
		c.install(ctx, "proxy")
		Eventually(c.onHub.writes.Load).Should(BeNumerically(">", 0), "the condition Available")
		widgets := questions{APIs: []apiRequest{{API: api{Group: group, Kind: "Widget"}}}}
		installCRD(ctx)
		c.request(ctx, widgets)
		Eventually(c.reportedLines(ctx)).WithTimeout(recovery).Should(HaveExactElements("Widget False"))

		removeCRD(ctx)
		Eventually(c.onManaged.openWatches.Load).Should(BeZero())
		Consistently(c.agentEnded).ShouldNot(Receive())
		installCRD(ctx)
		define(ctx, group, "Widget", "v1")
		c.request(ctx, widgets)
		Eventually(c.reportedLines(ctx)).WithTimeout(recovery).Should(HaveExactElements("Widget True v1"))
	})

	It("is reported in verdicts, events and metrics, and gets requests once the CRD exists", func(ctx context.Context) {
		gateway := unique("gateway")
		register(ctx, gateway, onAPI("widgets", group, "Widget"))
		c.install(ctx, gateway)
		m := startManager(ctx)
		Eventually(c.degraded(ctx, gateway)).WithTimeout(recovery).Should(And(
			HavePrefix("RequiredDependencyNotSatisfied: "), ContainSubstring(dependencyv1alpha1.CRDName)))
		Eventually(func() float64 { return m.clustersInState("not_served") }).Should(BeEquivalentTo(1))
		for namespace, reason := range map[string]string{"default": "ManagedClusterFactsNotServed", c.name: "RequiredDependencyNotSatisfied"} {
			Eventually(func(g Gomega) {
				var events eventsv1.EventList
				g.Expect(hub.List(ctx, &events, client.InNamespace(namespace))).To(Succeed())
				g.Expect(events.Items).To(ContainElement(And(HaveField("Regarding.Name", gateway), HaveField("Reason", reason))))
			}).Should(Succeed())
		}
		writes := m.traffic.writes.Load()
		Consistently(m.traffic.writes.Load).Should(Equal(writes))

		c.startAgent()
		define(ctx, group, "Widget", "v1")
		installCRD(ctx)
		Eventually(c.reportedLines(ctx)).WithTimeout(recovery).Should(HaveExactElements("Widget True v1"))
		Eventually(c.degraded(ctx, gateway)).Should(HavePrefix("DependenciesSatisfied: "))
		Eventually(func() float64 { return m.clustersInState("answered") }).Should(BeEquivalentTo(1))

		By("going once more")
		removeCRD(ctx)
		Eventually(c.degraded(ctx, gateway)).WithTimeout(recovery).Should(And(
			HavePrefix("RequiredDependencyNotSatisfied: "), ContainSubstring(dependencyv1alpha1.CRDName)))
	})
})
