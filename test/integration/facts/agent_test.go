package facts

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
)

type (
	questions  = dependencyv1alpha1.ManagedClusterFactsSpec
	api        = dependencyv1alpha1.API
	apiRequest = dependencyv1alpha1.APIRequest
	addOn      = dependencyv1alpha1.AddOn
)

var _ = Describe("The agent's reports", func() {
	var c *cluster
	var group string
	BeforeEach(func(ctx context.Context) {
		c = newCluster(ctx)
		group = unique("group") + ".example.com"
	})

	It("follow the served APIs, as CRDs are created, changed and deleted", func(ctx context.Context) {
		c.startAgent()
		c.request(ctx, questions{APIs: []apiRequest{
			{API: api{Group: "apps", Kind: "Deployment"}},
			{API: api{Group: "apps", Version: "v1beta1", Kind: "Deployment"}},
			{API: api{Kind: "Pod"}},
			{API: api{Group: group, Kind: "Widget"}},
			{API: api{Group: group, Version: "v1", Kind: "Gadget"}},
		}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements(
			"Deployment True v1", "Deployment False v1", "Pod True v1", "Widget False", "Gadget False"))
		Expect(must(c.facts(ctx)).Status.APIsServed).To(Equal("2/5"))

		By("a first kind of a group")
		widget := define(ctx, group, "Widget", "v1alpha1")
		Eventually(c.reportedLines(ctx)).Should(ContainElements("Widget True v1alpha1", "Gadget False"))
		By("a further kind of the same group and version, of which no APIService tells")
		gadget := define(ctx, group, "Gadget", "v1alpha1", "v1")
		Eventually(c.reportedLines(ctx)).Should(ContainElements("Gadget True v1,v1alpha1"))
		By("a version that is no longer served")
		Expect(managed.Get(ctx, client.ObjectKeyFromObject(gadget), gadget)).To(Succeed())
		gadget.Spec.Versions[1].Served = false
		Expect(managed.Update(ctx, gadget)).To(Succeed())
		Eventually(c.reportedLines(ctx)).Should(ContainElements("Gadget False v1alpha1"))
		By("both going")
		Expect(managed.Delete(ctx, widget)).To(Succeed())
		Eventually(c.reportedLines(ctx)).Should(ContainElements("Widget False", "Gadget False v1alpha1"))
		Expect(managed.Delete(ctx, gadget)).To(Succeed())
		Eventually(c.reportedLines(ctx)).Should(ContainElements("Widget False", "Gadget False"))
		Expect(c.onHub.refusals.Load() + c.onManaged.refusals.Load()).To(BeZero())
	})

	It("follow the running versions, as add-ons are installed, report and are deleted", func(ctx context.Context) {
		c.startAgent()
		c.request(ctx, questions{AddOns: []addOn{{Name: "proxy"}, {Name: "tunnel"}}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("proxy NotInstalled", "tunnel NotInstalled"))
		c.install(ctx, "proxy")
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("proxy LeaseNotFound", "tunnel NotInstalled"))
		c.run(ctx, "proxy", "")
		Eventually(c.reportedLines(ctx)).Should(ContainElements("proxy VersionNotReported"))
		c.run(ctx, "proxy", "v0.6.0")
		Eventually(c.reportedLines(ctx)).Should(ContainElements("proxy v0.6.0"))
		By("renewing its lease, which is nothing new")
		Expect(must(c.facts(ctx)).Status.VersionsKnown).To(Equal("1/2"))
		versionBefore := must(c.facts(ctx)).ResourceVersion
		c.run(ctx, "proxy", "v0.6.0")
		Consistently(func() string { return must(c.facts(ctx)).ResourceVersion }).Should(Equal(versionBefore))
		By("reporting an invalid version")
		c.run(ctx, "proxy", strings.Repeat("9", 4096))
		Eventually(c.reportedLines(ctx)).Should(ContainElements("proxy VersionUnusable"))
		c.run(ctx, "proxy", "v0.7.0")
		Eventually(c.reportedLines(ctx)).Should(ContainElements("proxy v0.7.0"))
		c.uninstall(ctx, "proxy")
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("proxy NotInstalled", "tunnel NotInstalled"))
	})

	It("have Unknown for an API whose server does not respond, and are not delayed for other APIs", func(ctx context.Context) {
		brokenGroup := unique("broken") + ".example.com"
		aggregate(ctx, brokenGroup, "v1")
		c.startAgent()
		c.request(ctx, questions{APIs: []apiRequest{{API: api{Group: brokenGroup, Kind: "Thing"}}, {API: api{Group: group, Kind: "Widget"}}}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Thing Unknown  DiscoveryFailed", "Widget False"))
		Expect(must(c.facts(ctx)).Status.APIs[0].Message).To(Equal("discovery of " + brokenGroup + "/v1 failed: 503 ServiceUnavailable"))
		define(ctx, group, "Widget", "v1")
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Thing Unknown  DiscoveryFailed", "Widget True v1"))
	})

	It("are not written again when the agent restarts", func(ctx context.Context) {
		define(ctx, group, "Widget", "v1")
		c.install(ctx, "proxy")
		c.run(ctx, "proxy", "1.0.0")
		c.startAgent()
		c.request(ctx, questions{APIs: []apiRequest{{API: api{Group: group, Kind: "Widget"}}}, AddOns: []addOn{{Name: "proxy"}}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Widget True v1", "proxy 1.0.0"))
		c.stopAgent()

		versionBefore, requestsBefore := must(c.facts(ctx)).ResourceVersion, c.onManaged.discoveries.Load()
		writes := c.onHub.writes.Load()
		c.startAgent()
		Eventually(c.onManaged.discoveries.Load).Should(BeNumerically(">", requestsBefore+1))
		Consistently(func() string { return must(c.facts(ctx)).ResourceVersion }).Should(Equal(versionBefore))
		Expect(c.onHub.writes.Load()).To(Equal(writes))
		By("and still observes changes")
		c.run(ctx, "proxy", "1.1.0")
		Eventually(c.reportedLines(ctx)).Should(ContainElements("proxy 1.1.0"))
	})

	It("are restored after another writer changes them, and after the object is created again", func(ctx context.Context) {
		c.startAgent()
		c.request(ctx, questions{APIs: []apiRequest{{API: api{Group: group, Kind: "Widget"}}}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Widget False"))
		c.meddle(ctx, map[string]any{
			"observedGeneration": 77, "versionsKnown": "all", "addOns": []any{map[string]any{"name": "ghost", "version": "9.9.9"}},
			"apis": []any{map[string]any{"group": group, "kind": "Widget", "served": "True"}},
		})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Widget False"))
		Expect(must(c.facts(ctx)).Status.VersionsKnown).To(BeEmpty())
		By("only answers being nonsense")
		c.meddle(ctx, map[string]any{"addOns": []any{map[string]any{"name": "ghost", "version": "9.9.9"}}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Widget False"))

		Expect(hub.Delete(ctx, must(c.facts(ctx)))).To(Succeed())
		c.request(ctx, questions{APIs: []apiRequest{{API: api{Group: "apps", Kind: "Deployment"}}}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Deployment True v1"))
	})

	It("cost the managed cluster nothing while no facts are requested", func(ctx context.Context) {
		c.startAgent()
		c.install(ctx, "proxy")
		Eventually(func() int64 { return c.onHub.writes.Load() }).Should(BeNumerically(">", 0))
		Expect(c.onManaged.discoveries.Load()).To(BeZero())
		c.request(ctx, questions{APIs: []apiRequest{{API: api{Group: group, Kind: "Widget"}}}})
		Eventually(c.reportedLines(ctx)).Should(HaveExactElements("Widget False"))
		Expect(c.onManaged.openWatches.Load()).To(BeEquivalentTo(2))
		Expect(hub.Delete(ctx, must(c.facts(ctx)))).To(Succeed())
		Eventually(c.onManaged.openWatches.Load).Should(BeZero())
	})

	It("can be written only by the agent, which can write nothing else", func(ctx context.Context) {
		neighbor := newCluster(ctx)
		neighbor.request(ctx, questions{})
		c.request(ctx, questions{})
		userClient := setup.ClientAs(c.hubUser, hub)
		list := &dependencyv1alpha1.ManagedClusterFactsList{}
		Expect(userClient.List(ctx, list, client.InNamespace(neighbor.name))).To(Satisfy(apierrors.IsForbidden))
		Expect(userClient.List(ctx, list, client.InNamespace(c.name))).To(Succeed())
		Expect(list.Items).To(HaveLen(1))
		facts := &list.Items[0]
		facts.Spec.APIs = []apiRequest{{API: api{Kind: "Pod"}}}
		Expect(userClient.Update(ctx, facts)).To(Satisfy(apierrors.IsForbidden))
		Expect(userClient.Delete(ctx, facts)).To(Satisfy(apierrors.IsForbidden))
		onManaged := setup.ClientAs(c.managedUser, managed)
		Expect(onManaged.Create(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "a.b"}})).
			To(Satisfy(apierrors.IsForbidden))
	})
})
