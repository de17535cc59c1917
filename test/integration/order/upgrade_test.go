package order

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

var _ = Describe("Another AddOnTemplate", Ordered, func() {
	clusters := []managedCluster{withAgent, withoutAgent, third}

	BeforeAll(func(ctx context.Context) {
		lifecycleOn(ctx)
		join(ctx, third)
		group(ctx, withAgent, withoutAgent)
		release(ctx, "rolling-1", "1.0.0", "")
		release(ctx, "rolling-2", "2.0.0", "needed")
		for i := 3; i <= 4; i++ {
			release(ctx, fmt.Sprintf("rolling-%d", i), fmt.Sprintf("%d.0.0", i), "missing")
		}
		release(ctx, "rolling-5", "5.0.0", `needed, version: ">= 2"`)
		register(ctx, "needed", "", false)
		setAnnotation(ctx, registration("needed", ""), interlockv1alpha1.AddOnVersionAnnotation, "1.0.0")
		withoutAgent.provide(ctx, "needed")
		third.provide(ctx, "needed")
		register(ctx, "sentinel", ordered("missing"), false)
		registerOneByOne(ctx)
		Eventually(withAgent.dryRunGate).WithContext(ctx).WithArguments("sentinel").Should(Equal(closed))
		for _, cluster := range clusters {
			Eventually(cluster.templates).WithContext(ctx).WithArguments(rolling).Should(Equal("rolling-1 rolling-1"))
			Eventually(cluster.upgradable).WithContext(ctx).WithArguments(rolling).Should(HavePrefix("True NothingWaits: "))
		}
	}, NodeTimeout(2*time.Minute))

	It("waits for its own dependencies with addon-agent, and OCM's rollout waits for it without addon-agent", func(ctx context.Context) {
		rollOut(ctx, "rolling-2")
		Eventually(withAgent.upgradable).WithContext(ctx).WithArguments(rolling).Should(HavePrefix(
			"False WaitingForDependencies: AddOnTemplate 'rolling-2' (version 2.0.0) waits: Required addon 'needed' is not installed"))

		By("nothing being written while it waits")
		expectNoWrites(ctx, rolling)

		By("the webhook being away")
		Expect(webhook.Stop(ctx)).To(Succeed())
		withAgent.annotateRolling(ctx, "looked-at", "again")
		Consistently(withAgent.templates).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments(rolling).
			Should(Equal("rolling-1 rolling-1"))
		Expect(withoutAgent.templates(ctx, rolling)).To(Equal("rolling-1 rolling-1"), "it needs nothing that is missing there, and is next")
		serve("--lifecycle")
		Eventually(withAgent.dryRunGate).WithContext(ctx).WithArguments("sentinel").Should(Equal(closed), "it has read all that is declared")

		By("its dependency being installed")
		withAgent.provide(ctx, "needed")
		for _, cluster := range []managedCluster{withAgent, withoutAgent} {
			Eventually(cluster.templates).WithContext(ctx).WithArguments(rolling).Should(Equal("rolling-2 rolling-2"))
		}
		Expect(withAgent.upgradable(ctx, rolling)).To(Equal(
			"True RequiredDependenciesSatisfied: All that AddOnTemplate 'rolling-2' (version 2.0.0) requires is satisfied."))
		Expect(withoutAgent.upgradable(ctx, rolling)).To(HavePrefix("True NothingWaits: "), "it never had to wait")
	}, NodeTimeout(2*time.Minute))

	It("follows a user's annotation, and is forgotten with its registration", func(ctx context.Context) {
		manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=webhook")
		rollOut(ctx, "rolling-3")
		Eventually(withAgent.upgradable).WithContext(ctx).WithArguments(rolling).Should(
			HavePrefix("False WaitingForDependencies: AddOnTemplate 'rolling-3' (version 3.0.0) waits: "))
		withAgent.annotateRolling(ctx, interlockv1alpha1.UpgradeAnnotation, "rolling-3")
		Eventually(withAgent.templates).WithContext(ctx).WithArguments(rolling).Should(Equal("rolling-3 rolling-3"))
		Eventually(withAgent.upgradable).WithContext(ctx).WithArguments(rolling).Should(
			HavePrefix("True GateOpened: AddOnTemplate 'rolling-3'"))

		Eventually(withoutAgent.upgradable).WithContext(ctx).WithArguments(rolling).Should(
			HavePrefix("False WaitingForDependencies: AddOnTemplate 'rolling-3'"))
		rollOut(ctx, "rolling-2")
		Eventually(withoutAgent.upgradable).WithContext(ctx).WithArguments(rolling).Should(HaveSuffix("is not to be rolled out any more."))
		Eventually(withAgent.templates).WithContext(ctx).WithArguments(rolling).Should(Equal("rolling-2 rolling-2"))
		Expect(withoutAgent.templates(ctx, rolling)).To(Equal("rolling-2 rolling-2"))
	}, NodeTimeout(time.Minute))

	DescribeTable("waits in its group for a new version of its dependency, and OCM's next group waits for both", func(
		ctx context.Context, waiting, ready managedCluster,
	) {
		setStrategy(ctx, oneByOne("rolling-2"))
		for _, cluster := range clusters {
			Eventually(cluster.templates).WithContext(ctx).WithArguments(rolling).Should(Equal("rolling-2 rolling-2"))
		}
		setAnnotation(ctx, registration("needed", ""), interlockv1alpha1.AddOnVersionAnnotation, "1.0.0")
		removeAnnotation(ctx, waiting.reference("needed"), interlockv1alpha1.AddOnVersionAnnotation)
		for _, cluster := range []managedCluster{ready, third} {
			setAnnotation(ctx, cluster.reference("needed"), interlockv1alpha1.AddOnVersionAnnotation, "2.0.0")
		}
		setStrategy(ctx, byGroup("rolling-5"))
		Eventually(ready.templates).WithContext(ctx).WithArguments(rolling).Should(Equal("rolling-5 rolling-5"), "the rest of the group goes on")
		Eventually(waiting.upgradable).WithContext(ctx).WithArguments(rolling).Should(HavePrefix("False WaitingForDependencies: AddOnTemplate " +
			"'rolling-5' (version 5.0.0) waits: Required addon 'needed' is not installed or not available in version '>= 2'"))
		Consistently(third.templates).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments(rolling).Should(Equal("rolling-2 rolling-2"))

		By("the version that only the template which waits requires")
		setAnnotation(ctx, registration("needed", ""), interlockv1alpha1.AddOnVersionAnnotation, "2.0.0")
		for _, cluster := range []managedCluster{waiting, third} {
			Eventually(cluster.templates).WithContext(ctx).WithArguments(rolling).Should(Equal("rolling-5 rolling-5"))
		}
		Expect(waiting.upgradable(ctx, rolling)).To(Equal(
			"True RequiredDependenciesSatisfied: All that AddOnTemplate 'rolling-5' (version 5.0.0) requires is satisfied."))
		Expect(third.upgradable(ctx, rolling)).NotTo(ContainSubstring("rolling-5"), "it never had to wait")
	},
		Entry("with addon-agent", withAgent, withoutAgent, NodeTimeout(2*time.Minute)),
		Entry("without addon-agent", withoutAgent, withAgent, NodeTimeout(2*time.Minute)),
	)

	It("is rolled out when Interlock is uninstalled, and OCM's agent reports on bundles, with and without addon-agent", func(
		ctx context.Context,
	) {
		clusters := []managedCluster{withAgent, withoutAgent}
		bundled(ctx, "left-bundle", "{dependencies: []}")
		for _, cluster := range clusters {
			cluster.install(ctx, "left-bundle")
			Eventually(cluster.available).WithContext(ctx).WithArguments("left-bundle").Should(HavePrefix("True BundleAvailable"))
		}
		rollOut(ctx, "rolling-4")
		Eventually(withAgent.upgradable).WithContext(ctx).WithArguments(rolling).Should(
			HavePrefix("False WaitingForDependencies: AddOnTemplate 'rolling-4'"))
		uninstall(ctx)
		for _, cluster := range clusters {
			Eventually(cluster.templates).WithContext(ctx).WithArguments(rolling).Should(Equal("rolling-4 rolling-4"))
			Expect(cluster.upgradable(ctx, rolling)).To(BeEmpty())
			Eventually(cluster.available).WithContext(ctx).WithArguments("left-bundle").
				Should(HavePrefix("Unknown ManagedClusterAddOnLeaseNotFound"))
		}
	}, NodeTimeout(time.Minute))
})
