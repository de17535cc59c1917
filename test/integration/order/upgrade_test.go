package order

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/testenv/ocm"
	"open-cluster-management.io/interlock/test/witness"
)

const rolling, further = "rolling", "cluster2"

// release creates an AddOnTemplate of the add-on, which needs another add-on unless that is empty.
func release(ctx context.Context, name, version, needs string) {
	GinkgoHelper()
	released := template(name)
	released.Spec.AddonName = rolling
	released.Annotations = map[string]string{interlockv1alpha1.AddOnVersionAnnotation: version}
	if needs != "" {
		released.Annotations[interlockv1alpha1.TemplateDependenciesAnnotation] = "[{name: " + needs + "}]"
	}
	Expect(hub.Client.Create(ctx, released)).To(Succeed())
}

// rollOut rolls an AddOnTemplate out, a cluster at a time.
func rollOut(ctx context.Context, template string) {
	GinkgoHelper()
	Eventually(func() error {
		registered := registration(rolling, "")
		if err := hub.Client.Get(ctx, client.ObjectKeyFromObject(registered), registered); err != nil {
			return err
		}
		before := registered.DeepCopy()
		registered.Spec.InstallStrategy = ocm.OneByOne(template)
		return hub.Client.Patch(ctx, registered, client.MergeFrom(before))
	}).WithContext(ctx).Should(Succeed())
}

func rollingOn(ctx context.Context, cluster string) (*addonv1alpha1.ManagedClusterAddOn, error) {
	found := &addonv1alpha1.ManagedClusterAddOn{}
	return found, hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: rolling}, found)
}

// templatesOn are the AddOnTemplate that OCM wants on a cluster, and the one that runs there.
func templatesOn(ctx context.Context, cluster string) (string, error) {
	found, err := rollingOn(ctx, cluster)
	for _, reference := range found.Status.ConfigReferences {
		if reference.Resource == "addontemplates" && reference.DesiredConfig != nil && reference.LastAppliedConfig != nil {
			return reference.DesiredConfig.Name + " " + reference.LastAppliedConfig.Name, err
		}
	}
	return "", err
}

func upgradableOn(ctx context.Context, cluster string) (string, error) {
	found, err := rollingOn(ctx, cluster)
	one := meta.FindStatusCondition(found.Status.Conditions, "Upgradable")
	if one == nil {
		return "", err
	}
	return fmt.Sprintf("%s %s: %s", one.Status, one.Reason, one.Message), err
}

// provide installs an add-on that is available, whatever runs.
func provide(ctx context.Context, cluster, name string) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	Expect(hub.Client.Create(ctx, addOn)).To(Succeed())
	Eventually(func() error {
		if err := hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn); err != nil {
			return err
		}
		addOn.Status.HealthCheck.Mode = addonv1alpha1.HealthCheckModeCustomized
		meta.SetStatusCondition(&addOn.Status.Conditions, metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Tested"})
		return hub.Client.Status().Update(ctx, addOn)
	}).WithContext(ctx).Should(Succeed())
}

func mark(ctx context.Context, cluster, key, value string) {
	GinkgoHelper()
	found := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: rolling}}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value)
	Expect(hub.Client.Patch(ctx, found, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

func registerOneByOne(ctx context.Context) {
	GinkgoHelper()
	for _, object := range ocm.Everywhere() {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	registered := registration(rolling, "{ordering: InstallAndUpgrade}")
	//nolint:staticcheck // v1alpha1 has no other field for it
	registered.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{
		ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
	}}
	registered.Spec.InstallStrategy = ocm.OneByOne("rolling-1")
	Expect(hub.Client.Create(ctx, registered)).To(Succeed())
}

var _ = Describe("Another AddOnTemplate", Ordered, func() {
	BeforeAll(func(ctx context.Context) {
		lifecycleOn(ctx)
		joined, err := hub.Join(ctx, further, ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: 2 * time.Second})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(joined.Stop)
		release(ctx, "rolling-1", "1.0.0", "")
		release(ctx, "rolling-2", "2.0.0", "needed")
		for i := 3; i <= 4; i++ {
			release(ctx, fmt.Sprintf("rolling-%d", i), fmt.Sprintf("%d.0.0", i), "missing")
		}
		register(ctx, "needed", "", false)
		provide(ctx, further, "needed")
		register(ctx, "sentinel", ordered("missing"), false)
		registerOneByOne(ctx)
		Eventually(dryRunGate).WithContext(ctx).WithArguments("sentinel").Should(Equal(closed))
		for _, on := range []string{cluster, further} {
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
