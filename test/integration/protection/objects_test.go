package protection

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// reported is what addon-agent of a cluster has reported: 40 Widgets or more.
func reported(ctx context.Context, on string) {
	GinkgoHelper()
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: on, Name: on}}
	Expect(hub.Client.Create(ctx, facts)).To(Succeed())
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, facts)) })
	facts.Status.Objects = []dependencyv1alpha1.ObjectsFact{{
		ObjectKind: dependencyv1alpha1.ObjectKind{Group: "example.com", Kind: "Widget"}, Count: ptr.To[int64](40), AtLeast: true,
	}}
	Expect(hub.Client.Status().Update(ctx, facts)).To(Succeed())
}

var _ = Describe("The removal of an add-on that provides an API", func() {
	It("warns of the objects that exist, and is not refused", func(ctx context.Context) {
		const provider, other = "provider", "other-provider"
		const lost = ", which add-on 'provider' provides: they are lost or left without a controller when it is removed"
		register(ctx, provider, "{provides: [{group: example.com, kind: Widget, version: v1}]}")
		register(ctx, other, "{provides: [{group: example.com, kind: Widget}]}")
		accept(ctx, "cluster2")
		for _, on := range []string{cluster, "cluster2"} {
			reported(ctx, on)
			Expect(hub.Client.Create(ctx, addOn(on, provider))).To(Succeed())
		}
		user, received := as("alice")
		tried := func(object client.Object) func() (string, error) {
			return func() (string, error) {
				received.all = nil
				err := user.Delete(ctx, object, client.DryRunAll)
				return strings.Join(received.all, "; "), err
			}
		}
		// The webhook reads registrations from a cache.
		Eventually(tried(addOn(cluster, provider))).Should(Equal(cluster + " has at least 40 objects of Widget.example.com" + lost))
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: provider}}
		Eventually(tried(registration)).Should(Equal("2 clusters have at least 80 objects of Widget.example.com (cluster1, cluster2)" + lost))

		By("another add-on providing the kind on one of them, and OCM having lost the other")
		Expect(hub.Client.Create(ctx, addOn(cluster, other))).To(Succeed())
		DeferCleanup(func(ctx context.Context) error {
			return client.IgnoreNotFound(hub.Client.Delete(ctx, addOn(cluster, other)))
		})
		Expect(tried(addOn(cluster, provider))()).To(BeEmpty())
		ocmsuite.Reach(ctx, hub, "cluster2", metav1.ConditionUnknown)
		Eventually(tried(registration)).Should(Equal("cluster2 last reported at least 40 objects of Widget.example.com" + lost))

		By("deleting it")
		received.all = nil
		Expect(user.Delete(ctx, addOn("cluster2", provider))).To(Succeed())
		Expect(received.all).To(ConsistOf("cluster2 last reported at least 40 objects of Widget.example.com" + lost))
		Expect(user.Delete(ctx, addOn(cluster, provider))).To(Succeed())
	})
})
