package order

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/witness"
)

var _ = Describe("Another AddOnTemplate", Ordered, func() {
	BeforeAll(func(ctx context.Context) {
		lifecycleOn(ctx)
		joinEarly(ctx)
		release(ctx, "rolling-1", "1.0.0", "")
		release(ctx, "rolling-2", "2.0.0", "needed")
		for i := 3; i <= 4; i++ {
			release(ctx, fmt.Sprintf("rolling-%d", i), fmt.Sprintf("%d.0.0", i), "missing")
		}
		release(ctx, "rolling-5", "5.0.0", `needed, version: ">= 2"`)
		register(ctx, "needed", "", false)
		setAnnotation(ctx, registration("needed", ""), interlockv1alpha1.AddOnVersionAnnotation, "1.0.0")
		provide(ctx, further, "needed")
		provide(ctx, last, "needed")
		register(ctx, "sentinel", ordered("missing"), false)
		registerOneByOne(ctx)
		Eventually(dryRunGate).WithContext(ctx).WithArguments("sentinel").Should(Equal(closed))
		for _, on := range []string{cluster, further, last} {
			Eventually(templatesOn).WithContext(ctx).WithArguments(on).Should(Equal("rolling-1 rolling-1"))
			Eventually(upgradableOn).WithContext(ctx).WithArguments(on).Should(HavePrefix("True NothingWaits: "))
		}
	}, NodeTimeout(2*time.Minute))

	It("waits for what it needs itself, and OCM's rollout waits for it", func(ctx context.Context) {
		rollOut(ctx, "rolling-2")
		Eventually(upgradableOn).WithContext(ctx).WithArguments(cluster).Should(HavePrefix(
			"False WaitingForDependencies: AddOnTemplate 'rolling-2' (version 2.0.0) waits: Required addon 'needed' is not installed"))

		By("nothing being written while it waits")
		w, err := witness.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog})
		Expect(err).NotTo(HaveOccurred())
		defer w.Stop()
		Expect(w.Settle(ctx, 3*time.Second)).To(Succeed())
		counts, err := w.Quiet(ctx, quiet)
		Expect(err).NotTo(HaveOccurred())
		for _, row := range counts.Rows {
			Expect(row.Object.String()).NotTo(HaveSuffix("/"+rolling), counts.String())
		}

		By("the webhook being away")
		Expect(webhook.Stop(ctx)).To(Succeed())
		mark(ctx, cluster, "looked-at", "again")
		Consistently(templatesOn).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments(cluster).Should(Equal("rolling-1 rolling-1"))
		Expect(templatesOn(ctx, further)).To(Equal("rolling-1 rolling-1"), "it needs nothing that is missing there, and is next")
		serve("--lifecycle")
		Eventually(dryRunGate).WithContext(ctx).WithArguments("sentinel").Should(Equal(closed), "it has read all that is declared")

		By("what it needs being there")
		provide(ctx, cluster, "needed")
		for _, on := range []string{cluster, further} {
			Eventually(templatesOn).WithContext(ctx).WithArguments(on).Should(Equal("rolling-2 rolling-2"))
		}
		Expect(upgradableOn(ctx, cluster)).To(Equal(
			"True RequiredDependenciesSatisfied: All that AddOnTemplate 'rolling-2' (version 2.0.0) requires is satisfied."))
		Expect(upgradableOn(ctx, further)).To(HavePrefix("True NothingWaits: "), "it never had to wait")
	}, NodeTimeout(2*time.Minute))

	It("follows the word of a user, and is forgotten with its registration", func(ctx context.Context) {
		manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=webhook")
		rollOut(ctx, "rolling-3")
		Eventually(upgradableOn).WithContext(ctx).WithArguments(cluster).Should(
			HavePrefix("False WaitingForDependencies: AddOnTemplate 'rolling-3' (version 3.0.0) waits: "))
		mark(ctx, cluster, interlockv1alpha1.UpgradeAnnotation, "rolling-3")
		Eventually(templatesOn).WithContext(ctx).WithArguments(cluster).Should(Equal("rolling-3 rolling-3"))
		Eventually(upgradableOn).WithContext(ctx).WithArguments(cluster).Should(HavePrefix("True GateOpened: AddOnTemplate 'rolling-3'"))

		Eventually(
			upgradableOn,
		).WithContext(ctx).
			WithArguments(further).
			Should(HavePrefix("False WaitingForDependencies: AddOnTemplate 'rolling-3'"))
		rollOut(ctx, "rolling-2")
		Eventually(upgradableOn).WithContext(ctx).WithArguments(further).Should(HaveSuffix("is not to be rolled out any more."))
		Eventually(templatesOn).WithContext(ctx).WithArguments(cluster).Should(Equal("rolling-2 rolling-2"))
		Expect(templatesOn(ctx, further)).To(Equal("rolling-2 rolling-2"))
	}, NodeTimeout(time.Minute))

	It("waits in its group for a new version of what it needs, and OCM's next group waits for both", func(ctx context.Context) {
		// While addon-agent may report a version, no template waits: it is not known.
		Eventually(reportNoVersion).WithContext(ctx).WithArguments(last, "needed").Should(Succeed())
		for _, ready := range []string{cluster, further} {
			needed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: ready, Name: "needed"}}
			setAnnotation(ctx, needed, interlockv1alpha1.AddOnVersionAnnotation, "2.0.0")
		}
		Eventually(templatesOn).WithContext(ctx).WithArguments(last).Should(Equal("rolling-2 rolling-2"))
		follows(ctx, byGroup("rolling-5"))
		Eventually(templatesOn).WithContext(ctx).WithArguments(further).Should(Equal("rolling-5 rolling-5"), "the rest of the group goes on")
		Eventually(upgradableOn).WithContext(ctx).WithArguments(last).Should(HavePrefix("False WaitingForDependencies: AddOnTemplate " +
			"'rolling-5' (version 5.0.0) waits: Required addon 'needed' is not installed or not available in version '>= 2'"))
		Consistently(templatesOn).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments(cluster).Should(Equal("rolling-2 rolling-2"))

		By("the version that only the template which waits requires")
		setAnnotation(ctx, registration("needed", ""), interlockv1alpha1.AddOnVersionAnnotation, "2.0.0")
		for _, on := range []string{last, cluster} {
			Eventually(templatesOn).WithContext(ctx).WithArguments(on).Should(Equal("rolling-5 rolling-5"))
		}
		Expect(upgradableOn(ctx, last)).To(Equal(
			"True RequiredDependenciesSatisfied: All that AddOnTemplate 'rolling-5' (version 5.0.0) requires is satisfied."))
		Expect(upgradableOn(ctx, cluster)).NotTo(ContainSubstring("rolling-5"), "it never had to wait")
	}, NodeTimeout(2*time.Minute))

	It("is rolled out when Interlock is uninstalled, and OCM's agent reports on bundles", func(ctx context.Context) {
		bundled(ctx, "left-bundle", "{dependencies: []}")
		install(ctx, "left-bundle")
		Eventually(availableOf).WithContext(ctx).WithArguments("left-bundle").Should(HavePrefix("True BundleAvailable"))
		rollOut(ctx, "rolling-4")
		Eventually(
			upgradableOn,
		).WithContext(ctx).
			WithArguments(cluster).
			Should(HavePrefix("False WaitingForDependencies: AddOnTemplate 'rolling-4'"))
		Expect(manager.Stop(ctx)).To(Succeed())
		manager = nil
		out, err := exec.CommandContext(ctx, interlocked.Program, "uninstall", "--kubeconfig", hub.Kubeconfig(),
			"--namespace", interlock.Namespace).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s", out)
		for _, on := range []string{cluster, further} {
			Eventually(templatesOn).WithContext(ctx).WithArguments(on).Should(Equal("rolling-4 rolling-4"))
			Expect(upgradableOn(ctx, on)).To(BeEmpty())
		}
		Eventually(availableOf).WithContext(ctx).WithArguments("left-bundle").Should(HavePrefix("Unknown ManagedClusterAddOnLeaseNotFound"))
	}, NodeTimeout(time.Minute))
})
