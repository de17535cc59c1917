package order

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// place has OCM install an add-on on the cluster by a Placement of its own, until the spec ends.
func (c managedCluster) place(ctx context.Context, name string) {
	GinkgoHelper()
	selecting := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
		Namespace: metav1.NamespaceDefault, Name: name, Annotations: map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"},
	}}
	decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: metav1.NamespaceDefault, Name: name, Labels: map[string]string{
			clusterv1beta1.PlacementLabel: name, clusterv1beta1.DecisionGroupIndexLabel: "0",
		},
	}}
	for _, object := range []client.Object{selecting, decision} {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, object)) })
	}
	decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: string(c)}}
	Expect(hub.Client.Status().Update(ctx, decision)).To(Succeed())
	registration := &addonv1alpha1.ClusterManagementAddOn{}
	Eventually(func() error {
		if err := hub.Client.Get(ctx, client.ObjectKey{Name: name}, registration); err != nil {
			return err
		}
		registration.Spec.InstallStrategy = addonv1alpha1.InstallStrategy{
			Type: addonv1alpha1.AddonInstallStrategyPlacements,
			Placements: []addonv1alpha1.PlacementStrategy{{
				PlacementRef: addonv1alpha1.PlacementRef{Namespace: metav1.NamespaceDefault, Name: name},
			}},
		}
		return hub.Client.Update(ctx, registration)
	}).Should(Succeed())
}

// replaceWebhook runs addon-manager webhook with other flags, and waits until it responds.
func replaceWebhook(ctx context.Context, flags ...string) {
	GinkgoHelper()
	Eventually(withAgent.dryRunGate).WithContext(ctx).WithArguments("closes-gates").Should(Equal(closed), "the one before responds")
	Expect(webhook.Stop(ctx)).To(Succeed())
	serve(flags...)
	Eventually(withAgent.dryRunGate).WithContext(ctx).WithArguments("closes-gates").Should(Equal(closed))
}

var _ = Describe("An add-on that OCM installs by a Placement and that contradicts installed add-ons", Ordered, func() {
	BeforeAll(func(ctx context.Context) {
		lifecycleOn(ctx)
		register(ctx, "closes-gates", ordered("missing"), false)
		replaceWebhook(ctx, "--lifecycle", "--protection=enforce")
	}, NodeTimeout(time.Minute))
	AfterAll(func(ctx context.Context) { replaceWebhook(ctx, "--lifecycle") }, NodeTimeout(time.Minute))

	DescribeTable("is held, and installed once the contradiction is over", func(ctx context.Context, cluster managedCluster) {
		dependency, picky := cluster.uniqueName("needed-in-2"), cluster.uniqueName("picky")
		register(ctx, dependency, "", false)
		setAnnotation(ctx, registration(dependency, ""), interlockv1alpha1.AddOnVersionAnnotation, "1.0.0")
		cluster.install(ctx, dependency)
		register(ctx, picky, "[{name: "+dependency+`, type: IfInstalled, version: ">= 2"}]`, true)
		Eventually(func() error { return hub.Client.Create(ctx, cluster.reference(picky), client.DryRunAll) }).
			Should(MatchError(ContainSubstring("contradicts what it needs")), "a user is refused")

		cluster.place(ctx, picky)
		Eventually(cluster.gate).WithContext(ctx).WithArguments(picky).Should(Equal(closed))
		Eventually(cluster.installable).WithContext(ctx).WithArguments(picky).Should(HavePrefix(
			"False Contradiction: contradicts what it needs: Addon '" + dependency + "' is installed, but not in version '>= 2'."))
		Expect(ocmsuite.Notes(ctx, hub, metav1.NamespaceDefault, picky, "InstallationHeld")()).To(ContainElement(
			HaveSuffix("Its gate is closed until that is over")))
		Consistently(cluster.isDeployed).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments(picky).Should(BeFalse())

		By("the version that it needs")
		setAnnotation(ctx, registration(dependency, ""), interlockv1alpha1.AddOnVersionAnnotation, "2.0.0")
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(picky).Should(BeTrue())
		Expect(cluster.gate(ctx, picky)).To(Equal(opened))
		Expect(cluster.installable(ctx, picky)).
			To(Equal("True RequiredDependenciesSatisfied: The add-on contradicts no installed add-on any more."))
	}, onBoth(time.Minute))

	DescribeTable("is held while it would break a dependent, and installed once the dependent is deleted", func(
		ctx context.Context, cluster managedCluster,
	) {
		newer, conservative := cluster.uniqueName("newer"), cluster.uniqueName("conservative")
		register(ctx, newer, "", true)
		setAnnotation(ctx, registration(newer, ""), interlockv1alpha1.AddOnVersionAnnotation, "2.0.0")
		register(ctx, conservative, "[{name: "+newer+`, type: IfInstalled, version: "< 2"}]`, false)
		cluster.install(ctx, conservative)
		Eventually(func() error { return hub.Client.Create(ctx, cluster.reference(newer), client.DryRunAll) }).
			Should(MatchError(ContainSubstring("would break 1 add-on: "+conservative)), "a user is refused")

		cluster.place(ctx, newer)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(newer).Should(HavePrefix(
			"False Contradiction: would break 1 add-on: " + conservative + ": "))
		Expect(cluster.isDeployed(ctx, newer)).To(BeFalse())
		Expect(hub.Client.Delete(ctx, cluster.reference(conservative))).To(Succeed())
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(newer).Should(BeTrue())
	}, onBoth(time.Minute))
})
