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
func (on managedCluster) place(ctx context.Context, name string) {
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
	decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: string(on)}}
	Expect(hub.Client.Status().Update(ctx, decision)).To(Succeed())
	registered := &addonv1alpha1.ClusterManagementAddOn{}
	Eventually(func() error {
		if err := hub.Client.Get(ctx, client.ObjectKey{Name: name}, registered); err != nil {
			return err
		}
		registered.Spec.InstallStrategy = addonv1alpha1.InstallStrategy{
			Type: addonv1alpha1.AddonInstallStrategyPlacements,
			Placements: []addonv1alpha1.PlacementStrategy{{
				PlacementRef: addonv1alpha1.PlacementRef{Namespace: metav1.NamespaceDefault, Name: name},
			}},
		}
		return hub.Client.Update(ctx, registered)
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

var _ = Describe("What OCM installs by a Placement, and contradicts what is installed", Ordered, func() {
	BeforeAll(func(ctx context.Context) {
		lifecycleOn(ctx)
		register(ctx, "closes-gates", ordered("missing"), false)
		replaceWebhook(ctx, "--lifecycle", "--protection=enforce")
	}, NodeTimeout(time.Minute))
	AfterAll(func(ctx context.Context) { replaceWebhook(ctx, "--lifecycle") }, NodeTimeout(time.Minute))

	DescribeTable("is held, and installed once the contradiction is over", func(ctx context.Context, on managedCluster) {
		needed, picky := on.named("needed-in-2"), on.named("picky")
		register(ctx, needed, "", false)
		setAnnotation(ctx, registration(needed, ""), interlockv1alpha1.AddOnVersionAnnotation, "1.0.0")
		on.install(ctx, needed)
		register(ctx, picky, "[{name: "+needed+`, type: IfInstalled, version: ">= 2"}]`, true)
		Eventually(func() error { return hub.Client.Create(ctx, on.reference(picky), client.DryRunAll) }).
			Should(MatchError(ContainSubstring("contradicts what it needs")), "a user is refused")

		on.place(ctx, picky)
		Eventually(on.gate).WithContext(ctx).WithArguments(picky).Should(Equal(closed))
		Eventually(on.installable).WithContext(ctx).WithArguments(picky).Should(HavePrefix(
			"False Contradiction: contradicts what it needs: Addon '" + needed + "' is installed, but not in version '>= 2'."))
		Expect(ocmsuite.Notes(ctx, hub, metav1.NamespaceDefault, picky, "InstallationHeld")()).To(ContainElement(
			HaveSuffix("Its gate is closed until that is over")))
		Consistently(on.deployed).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments(picky).Should(BeFalse())

		By("the version that it needs")
		setAnnotation(ctx, registration(needed, ""), interlockv1alpha1.AddOnVersionAnnotation, "2.0.0")
		Eventually(on.deployed).WithContext(ctx).WithArguments(picky).Should(BeTrue())
		Expect(on.gate(ctx, picky)).To(Equal(opened))
		Expect(on.installable(ctx, picky)).To(Equal("True RequiredDependenciesSatisfied: The add-on contradicts no installed add-on any more."))
	}, onBoth(time.Minute))

	DescribeTable("is held for what it would break, and installed once that is gone", func(ctx context.Context, on managedCluster) {
		newer, conservative := on.named("newer"), on.named("conservative")
		register(ctx, newer, "", true)
		setAnnotation(ctx, registration(newer, ""), interlockv1alpha1.AddOnVersionAnnotation, "2.0.0")
		register(ctx, conservative, "[{name: "+newer+`, type: IfInstalled, version: "< 2"}]`, false)
		on.install(ctx, conservative)
		Eventually(func() error { return hub.Client.Create(ctx, on.reference(newer), client.DryRunAll) }).
			Should(MatchError(ContainSubstring("would break 1 add-on: "+conservative)), "a user is refused")

		on.place(ctx, newer)
		Eventually(on.installable).WithContext(ctx).WithArguments(newer).Should(HavePrefix(
			"False Contradiction: would break 1 add-on: " + conservative + ": "))
		Expect(on.deployed(ctx, newer)).To(BeFalse())
		Expect(hub.Client.Delete(ctx, on.reference(conservative))).To(Succeed())
		Eventually(on.deployed).WithContext(ctx).WithArguments(newer).Should(BeTrue())
	}, onBoth(time.Minute))
})
