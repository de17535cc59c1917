package order

import (
	"context"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/gaterule"
	"open-cluster-management.io/interlock/pkg/compat/rule"
)

const (
	closed = interlockv1alpha1.GateClosed
	opened = interlockv1alpha1.GateOpen
)

var _ = Describe("The installation of an add-on", Ordered, func() {
	for _, form := range []string{"policy", "webhook"} {
		Describe("with the gate rule as a "+form, Ordered, func() {
			BeforeAll(func(ctx context.Context) {
				manage(ctx, "Gate rule is in force", "--lifecycle", "--guard="+form)
				register(ctx, "first-"+form, ordered("missing"), false)
				Eventually(withAgent.dryRunGate).WithContext(ctx).WithArguments("first-" + form).Should(Equal(closed))
			}, NodeTimeout(time.Minute))

			DescribeTable("waits for its dependencies, in the order of a chain", func(ctx context.Context, cluster managedCluster) {
				waitsInChain(ctx, cluster, func(name string) string { return cluster.uniqueName(name + "-" + form) })
			}, onBoth(2*time.Minute))
		})
	}

	DescribeTable("does not wait on a cycle", func(ctx context.Context, cluster managedCluster) {
		existing, dependent := cluster.uniqueName("there"), cluster.uniqueName("back")
		Expect(webhook.Stop(ctx)).To(Succeed()) // it refuses cycles
		register(ctx, existing, ordered(dependent), true)
		register(ctx, dependent, ordered(existing), true)
		serve("--lifecycle")
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments("first-policy").Should(Equal(closed))
		for _, name := range []string{existing, dependent} {
			cluster.install(ctx, name)
		}
		for _, name := range []string{existing, dependent} {
			Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
			Expect(cluster.gate(ctx, name)).To(BeEmpty())
		}

		By("one whose gate is closed by hand")
		cluster.remove(ctx, existing)
		Eventually(cluster.isDeleted).WithContext(ctx).WithArguments(existing).Should(BeTrue())
		cluster.install(ctx, existing, closed)
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(existing).Should(BeTrue())
		Eventually(cluster.installable).WithContext(ctx).WithArguments(existing).Should(HavePrefix(
			"True GateOpened: The dependencies can never be satisfied: " + dependent + " → " + existing + " → " + dependent + "."))
	}, onBoth(time.Minute))

	DescribeTable("follows a user's annotation", func(ctx context.Context, cluster managedCluster) {
		atCreation, openedLater := cluster.uniqueName("opened-at-creation"), cluster.uniqueName("opened-later")
		gateRemoved := cluster.uniqueName("gate-removed")
		deleted, eager := cluster.uniqueName("deleted"), cluster.uniqueName("unordered")
		register(ctx, atCreation, ordered("missing"), true)
		cluster.install(ctx, atCreation, opened)
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(atCreation).Should(BeTrue())
		Expect(cluster.gate(ctx, atCreation)).To(Equal(opened))

		register(ctx, openedLater, ordered("missing"), true)
		cluster.install(ctx, openedLater, closed)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(openedLater).Should(HavePrefix("False WaitingForDependencies"))
		Expect(cluster.isDeployed(ctx, openedLater)).To(BeFalse())
		cluster.annotate(ctx, openedLater, opened)
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(openedLater).Should(BeTrue())
		Eventually(cluster.installable).WithContext(ctx).WithArguments(openedLater).Should(HavePrefix("True GateOpened: A user opened the gate"))

		By("removing the annotation")
		register(ctx, gateRemoved, ordered("missing"), true)
		cluster.install(ctx, gateRemoved, closed)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(gateRemoved).Should(HavePrefix("False WaitingForDependencies"))
		removeAnnotation(ctx, cluster.reference(gateRemoved), interlockv1alpha1.GateAnnotation)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(gateRemoved).Should(HavePrefix("True GateOpened: There is no gate"))
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(gateRemoved).Should(BeTrue())

		By("deleting an add-on that waits")
		register(ctx, deleted, ordered("missing"), true)
		cluster.install(ctx, deleted, closed)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(deleted).Should(HavePrefix("False WaitingForDependencies"))
		cluster.remove(ctx, deleted)
		Eventually(cluster.isDeleted).WithContext(ctx).WithArguments(deleted).Should(BeTrue())

		By("closing it where nothing waits")
		register(ctx, eager, unordered("missing"), true)
		cluster.install(ctx, eager, closed)
		Eventually(cluster.gate).WithContext(ctx).WithArguments(eager).Should(Equal(opened))
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(eager).Should(BeTrue())
	}, onBoth(time.Minute))

	DescribeTable("waits for the dependencies of its AddOnTemplate, through v1beta1 as OCM creates it, and with a failed registration", func(
		ctx context.Context, cluster managedCluster,
	) {
		name, dependency := cluster.uniqueName("templated"), cluster.uniqueName("of-template")
		declaring := template(name)
		declaring.Annotations = map[string]string{interlockv1alpha1.TemplateDependenciesAnnotation: "[{name: " + dependency + "}]"}
		Expect(hub.Client.Create(ctx, declaring)).To(Succeed())
		registerTemplated(ctx, name, "{ordering: Install}")
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		addOn := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: string(cluster), Name: name}}
		Expect(hub.Client.Create(ctx, addOn)).To(Succeed())
		Expect(addOn.Annotations).To(HaveKeyWithValue(interlockv1alpha1.GateAnnotation, closed))
		Eventually(cluster.installable).WithContext(ctx).WithArguments(name).Should(
			HavePrefix("False WaitingForDependencies: Required addon '" + dependency + "'"))

		// OCM deploys an add-on whose registration failed, too.
		failure := `{"status":{"conditions":[{"type":"RegistrationApplied","status":"False","reason":"Tested","message":"",` +
			`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
		Expect(hub.Client.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, []byte(failure)))).To(Succeed())
		Consistently(cluster.isDeployed).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments(name).Should(BeFalse())
		Expect(cluster.condition(ctx, name, "RegistrationApplied")).To(BeEmpty())

		register(ctx, dependency, "", true)
		cluster.install(ctx, dependency)
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		cluster.expectMadeAfter(ctx, name, dependency)
	}, onBoth(time.Minute))

	DescribeTable("waits for an AddOnTemplate that GitOps applies after it", func(ctx context.Context, cluster managedCluster) {
		name, dependency := cluster.uniqueName("templated-later"), cluster.uniqueName("of-later")
		registerTemplated(ctx, name, "{ordering: Install}")
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		cluster.install(ctx, name)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(name).Should(Equal(
			"False WaitingForDependencies: AddOnTemplate '" + name + "' does not exist. Create it, or name another one."))

		declaring := template(name)
		declaring.Annotations = map[string]string{interlockv1alpha1.TemplateDependenciesAnnotation: "[{name: " + dependency + "}]"}
		Expect(hub.Client.Create(ctx, declaring)).To(Succeed())
		Eventually(cluster.installable).WithContext(ctx).WithArguments(name).Should(
			HavePrefix("False WaitingForDependencies: Required addon '" + dependency + "'"))
		Expect(cluster.isDeployed(ctx, name)).To(BeFalse())

		register(ctx, dependency, "", true)
		cluster.install(ctx, dependency)
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		cluster.expectMadeAfter(ctx, name, dependency)
	}, onBoth(time.Minute))

	DescribeTable("does not wait while the webhook is unavailable", func(ctx context.Context, cluster managedCluster) {
		name := cluster.uniqueName("unnoticed")
		Expect(webhook.Stop(ctx)).To(Succeed())
		register(ctx, name, ordered("missing"), true)
		cluster.install(ctx, name)
		Expect(cluster.gate(ctx, name)).To(BeEmpty())
		Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		serve("--lifecycle")
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments("first-policy").Should(Equal(closed))
	}, onBoth(time.Minute))

	Describe("that brings all that it needs", Ordered, func() {
		BeforeAll(func(ctx context.Context) {
			manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
		}, NodeTimeout(time.Minute))

		DescribeTable("waits for each of them, and each of them for its own dependencies", bringsStack, onBoth(time.Minute))
	})

	It("is released when Interlock is uninstalled, with and without addon-agent", func(ctx context.Context) {
		register(ctx, "released", ordered("missing"), true)
		for _, cluster := range []managedCluster{withAgent, withoutAgent} {
			cluster.install(ctx, "released", closed)
			Eventually(cluster.installable).WithContext(ctx).WithArguments("released").Should(HavePrefix("False WaitingForDependencies"))
			Expect(cluster.isDeployed(ctx, "released")).To(BeFalse())
		}
		Expect(uninstall(ctx)).To(ContainSubstring("opened and removed, none is left"))
		for _, cluster := range []managedCluster{withAgent, withoutAgent} {
			Eventually(cluster.isDeployed).WithContext(ctx).WithArguments("released").Should(BeTrue())
			Expect(cluster.gate(ctx, "released")).To(BeEmpty())
			Expect(cluster.installable(ctx, "released")).To(BeEmpty())
		}
		Expect(ruleIsInstalled(ctx)).To(BeFalse())
	}, NodeTimeout(time.Minute))

	It("does not wait with the lifecycle off, and a gate that was closed holds nothing, with and without addon-agent", func(
		ctx context.Context,
	) {
		manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
		register(ctx, "left", ordered("missing"), true)
		for _, cluster := range []managedCluster{withAgent, withoutAgent} {
			cluster.install(ctx, "left", closed)
			Eventually(cluster.installable).WithContext(ctx).WithArguments("left").Should(HavePrefix("False WaitingForDependencies"))
		}

		Expect(webhook.Stop(ctx)).To(Succeed())
		serve()
		manage(ctx, "Removed the rule", "--guard=policy")
		Eventually(ruleIsInstalled).WithContext(ctx).Should(BeFalse())
		register(ctx, "off", ordered("missing"), true)
		for _, cluster := range []managedCluster{withAgent, withoutAgent} {
			cluster.install(ctx, "off")
			Expect(cluster.gate(ctx, "off")).To(BeEmpty())
			Eventually(cluster.isDeployed).WithContext(ctx).WithArguments("off").Should(BeTrue())
			cluster.annotate(ctx, "left", "ignored") // any change has OCM look at the add-on again
			Eventually(cluster.isDeployed).WithContext(ctx).WithArguments("left").Should(BeTrue())
		}
	}, NodeTimeout(time.Minute))
})

// waitsInChain installs a chain of add-ons in the worst order. The function uniqueName returns their names.
func waitsInChain(ctx context.Context, cluster managedCluster, uniqueName func(string) string) {
	GinkgoHelper()
	base, mid, top, eager := uniqueName("base"), uniqueName("mid"), uniqueName("top"), uniqueName("eager")
	register(ctx, base, ordered(), true)
	register(ctx, mid, ordered(base), true)
	register(ctx, top, ordered(mid), true)
	register(ctx, eager, unordered(base), true)
	for _, name := range []string{top, mid} {
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
	}
	for _, name := range []string{top, mid, eager} {
		cluster.install(ctx, name)
	}
	Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(eager).Should(BeTrue(), "without ordering, nothing waits")
	for _, name := range []string{top, mid} {
		Expect(cluster.gate(ctx, name)).To(Equal(closed))
		Eventually(cluster.installable).WithContext(ctx).WithArguments(name).Should(HavePrefix("False WaitingForDependencies: Required addon"))
	}
	Expect(cluster.gate(ctx, eager)).To(BeEmpty())

	By("nothing being written while they wait")
	expectQuiet(ctx)
	for _, name := range []string{top, mid} {
		Expect(cluster.isDeployed(ctx, name)).To(BeFalse())
	}

	start := time.Now()
	cluster.install(ctx, base)
	Eventually(cluster.whenAvailable).WithContext(ctx).WithArguments(top).Should(BeNumerically(">", 0))
	AddReportEntry("from the installation of base until top is available", time.Since(start).String())
	cluster.expectMadeAfter(ctx, mid, base)
	cluster.expectMadeAfter(ctx, top, mid)
	for _, name := range []string{top, mid} {
		Expect(cluster.gate(ctx, name)).To(Equal(opened))
		Expect(cluster.installable(ctx, name)).To(HavePrefix("True RequiredDependenciesSatisfied"))
	}
	Expect(cluster.gate(ctx, base)).To(BeEmpty(), "it never had to wait")
	Eventually(cluster.eventNotes).WithContext(ctx).WithArguments(top, "GateOpened").ShouldNot(BeEmpty())
}

// bringsStack installs the top of a stack. Interlock installs its dependencies in order, and removes them in order.
func bringsStack(ctx context.Context, cluster managedCluster) {
	portal := cluster.uniqueName("portal")
	stack := map[string][]string{
		portal: {cluster.uniqueName("gateway"), cluster.uniqueName("tunnel")}, cluster.uniqueName("gateway"): {cluster.uniqueName("tokens")},
		cluster.uniqueName("tunnel"): {cluster.uniqueName("tokens"), cluster.uniqueName("certs")},
		cluster.uniqueName("tokens"): nil, cluster.uniqueName("certs"): nil,
	}
	for name, dependencies := range stack {
		register(ctx, name, bringing(dependencies...), true)
		consent(ctx, name)
	}
	for name, dependencies := range stack {
		if len(dependencies) > 0 {
			Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		}
	}
	cluster.install(ctx, portal)
	Eventually(cluster.whenAvailable).WithContext(ctx).WithArguments(portal).Should(BeNumerically(">", 0))
	for name, dependencies := range stack {
		for _, need := range dependencies {
			cluster.expectMadeAfter(ctx, name, need)
		}
		addOn, err := cluster.addOn(ctx, name)
		Expect(err).NotTo(HaveOccurred())
		Expect(addOn.Labels[interlockv1alpha1.InstalledByLabel]).To(Equal(map[bool]string{true: "interlock"}[name != portal]), name)
		if name != portal {
			Expect(addOn.Finalizers).To(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer), "%s goes after those that need it", name)
		}
	}

	By("removing all of it at once")
	names := slices.Sorted(maps.Keys(stack))
	cluster.hold(ctx, portal, true)
	for _, name := range names {
		cluster.remove(ctx, name)
	}
	Consistently(cluster.deletedOf).WithContext(ctx).WithArguments(names).WithTimeout(4 * time.Second).Should(BeEmpty())
	cluster.hold(ctx, portal, false)
	Eventually(cluster.deletedOf).WithContext(ctx).WithArguments(names).Should(HaveLen(len(names)))
}

// ruleIsInstalled reports whether the hub has any object of the gate rule.
func ruleIsInstalled(ctx context.Context) (bool, error) {
	for kind, version := range map[string]string{rule.KindPolicy: "v1beta1", rule.KindBinding: "v1beta1", rule.KindWebhook: "v1"} {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: rule.Group, Version: version, Kind: kind})
		err := hub.Client.Get(ctx, client.ObjectKey{Name: gaterule.Rule.Name}, object)
		if err == nil || !apierrors.IsNotFound(err) {
			return err == nil, err
		}
	}
	return false, nil
}
