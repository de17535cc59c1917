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
	gaterule "open-cluster-management.io/interlock/pkg/compat/gate"
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
				waitsInChain(ctx, cluster, func(name string) string { return cluster.named(name + "-" + form) })
			}, onBoth(2*time.Minute))
		})
	}

	DescribeTable("does not wait on a cycle", func(ctx context.Context, cluster managedCluster) {
		there, back := cluster.named("there"), cluster.named("back")
		Expect(webhook.Stop(ctx)).To(Succeed()) // it refuses cycles
		register(ctx, there, ordered(back), true)
		register(ctx, back, ordered(there), true)
		serve("--lifecycle")
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments("first-policy").Should(Equal(closed))
		for _, name := range []string{there, back} {
			cluster.install(ctx, name)
		}
		for _, name := range []string{there, back} {
			Eventually(cluster.deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
			Expect(cluster.gate(ctx, name)).To(BeEmpty())
		}

		By("one whose gate is closed by hand")
		cluster.remove(ctx, there)
		Eventually(cluster.gone).WithContext(ctx).WithArguments(there).Should(BeTrue())
		cluster.install(ctx, there, closed)
		Eventually(cluster.deployed).WithContext(ctx).WithArguments(there).Should(BeTrue())
		Eventually(cluster.installable).WithContext(ctx).WithArguments(there).Should(HavePrefix(
			"True GateOpened: The dependencies can never be satisfied: " + back + " → " + there + " → " + back + "."))
	}, onBoth(time.Minute))

	DescribeTable("follows the word of a user", func(ctx context.Context, cluster managedCluster) {
		atCreation, later, removed := cluster.named("opened-at-creation"), cluster.named("opened-later"), cluster.named("gate-removed")
		deleted, eager := cluster.named("deleted"), cluster.named("unordered")
		register(ctx, atCreation, ordered("missing"), true)
		cluster.install(ctx, atCreation, opened)
		Eventually(cluster.deployed).WithContext(ctx).WithArguments(atCreation).Should(BeTrue())
		Expect(cluster.gate(ctx, atCreation)).To(Equal(opened))

		register(ctx, later, ordered("missing"), true)
		cluster.install(ctx, later, closed)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(later).Should(HavePrefix("False WaitingForDependencies"))
		Expect(cluster.deployed(ctx, later)).To(BeFalse())
		cluster.annotate(ctx, later, opened)
		Eventually(cluster.deployed).WithContext(ctx).WithArguments(later).Should(BeTrue())
		Eventually(cluster.installable).WithContext(ctx).WithArguments(later).Should(HavePrefix("True GateOpened: A user opened the gate"))

		By("removing the annotation")
		register(ctx, removed, ordered("missing"), true)
		cluster.install(ctx, removed, closed)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(removed).Should(HavePrefix("False WaitingForDependencies"))
		removeAnnotation(ctx, cluster.reference(removed), interlockv1alpha1.GateAnnotation)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(removed).Should(HavePrefix("True GateOpened: There is no gate"))
		Eventually(cluster.deployed).WithContext(ctx).WithArguments(removed).Should(BeTrue())

		By("deleting an add-on that waits")
		register(ctx, deleted, ordered("missing"), true)
		cluster.install(ctx, deleted, closed)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(deleted).Should(HavePrefix("False WaitingForDependencies"))
		cluster.remove(ctx, deleted)
		Eventually(cluster.gone).WithContext(ctx).WithArguments(deleted).Should(BeTrue())

		By("closing it where nothing waits")
		register(ctx, eager, unordered("missing"), true)
		cluster.install(ctx, eager, closed)
		Eventually(cluster.gate).WithContext(ctx).WithArguments(eager).Should(Equal(opened))
		Eventually(cluster.deployed).WithContext(ctx).WithArguments(eager).Should(BeTrue())
	}, onBoth(time.Minute))

	DescribeTable("waits for what its AddOnTemplate declares, through v1beta1 as OCM creates it, and with a registration that fails", func(
		ctx context.Context, cluster managedCluster,
	) {
		name, needed := cluster.named("templated"), cluster.named("of-template")
		declaring := template(name)
		declaring.Annotations = map[string]string{interlockv1alpha1.TemplateDependenciesAnnotation: "[{name: " + needed + "}]"}
		Expect(hub.Client.Create(ctx, declaring)).To(Succeed())
		registerTemplated(ctx, name, "{ordering: Install}")
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		addOn := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: string(cluster), Name: name}}
		Expect(hub.Client.Create(ctx, addOn)).To(Succeed())
		Expect(addOn.Annotations).To(HaveKeyWithValue(interlockv1alpha1.GateAnnotation, closed))
		Eventually(cluster.installable).WithContext(ctx).WithArguments(name).Should(
			HavePrefix("False WaitingForDependencies: Required addon '" + needed + "'"))

		// OCM deploys an add-on whose registration failed, too.
		failed := `{"status":{"conditions":[{"type":"RegistrationApplied","status":"False","reason":"Tested","message":"",` +
			`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
		Expect(hub.Client.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, []byte(failed)))).To(Succeed())
		Consistently(cluster.deployed).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments(name).Should(BeFalse())
		Expect(cluster.condition(ctx, name, "RegistrationApplied")).To(BeEmpty())

		register(ctx, needed, "", true)
		cluster.install(ctx, needed)
		Eventually(cluster.deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		cluster.expectMadeAfter(ctx, name, needed)
	}, onBoth(time.Minute))

	DescribeTable("waits for an AddOnTemplate that GitOps applies after it", func(ctx context.Context, cluster managedCluster) {
		name, needed := cluster.named("templated-later"), cluster.named("of-later")
		registerTemplated(ctx, name, "{ordering: Install}")
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		cluster.install(ctx, name)
		Eventually(cluster.installable).WithContext(ctx).WithArguments(name).Should(Equal(
			"False WaitingForDependencies: AddOnTemplate '" + name + "' does not exist. Create it, or name another one."))

		declaring := template(name)
		declaring.Annotations = map[string]string{interlockv1alpha1.TemplateDependenciesAnnotation: "[{name: " + needed + "}]"}
		Expect(hub.Client.Create(ctx, declaring)).To(Succeed())
		Eventually(cluster.installable).WithContext(ctx).WithArguments(name).Should(
			HavePrefix("False WaitingForDependencies: Required addon '" + needed + "'"))
		Expect(cluster.deployed(ctx, name)).To(BeFalse())

		register(ctx, needed, "", true)
		cluster.install(ctx, needed)
		Eventually(cluster.deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		cluster.expectMadeAfter(ctx, name, needed)
	}, onBoth(time.Minute))

	DescribeTable("does not wait while the webhook is away", func(ctx context.Context, cluster managedCluster) {
		name := cluster.named("unnoticed")
		Expect(webhook.Stop(ctx)).To(Succeed())
		register(ctx, name, ordered("missing"), true)
		cluster.install(ctx, name)
		Expect(cluster.gate(ctx, name)).To(BeEmpty())
		Eventually(cluster.deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		serve("--lifecycle")
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments("first-policy").Should(Equal(closed))
	}, onBoth(time.Minute))

	Describe("that brings all that it needs", Ordered, func() {
		BeforeAll(func(ctx context.Context) {
			manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
		}, NodeTimeout(time.Minute))

		DescribeTable("waits for each of them, and each for what it needs itself", bringsStack, onBoth(time.Minute))
	})

	It("is released when Interlock is uninstalled, with and without addon-agent", func(ctx context.Context) {
		register(ctx, "released", ordered("missing"), true)
		for _, cluster := range []managedCluster{withAgent, withoutAgent} {
			cluster.install(ctx, "released", closed)
			Eventually(cluster.installable).WithContext(ctx).WithArguments("released").Should(HavePrefix("False WaitingForDependencies"))
			Expect(cluster.deployed(ctx, "released")).To(BeFalse())
		}
		Expect(uninstall(ctx)).To(ContainSubstring("opened and removed, none is left"))
		for _, cluster := range []managedCluster{withAgent, withoutAgent} {
			Eventually(cluster.deployed).WithContext(ctx).WithArguments("released").Should(BeTrue())
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
			Eventually(cluster.deployed).WithContext(ctx).WithArguments("off").Should(BeTrue())
			cluster.annotate(ctx, "left", "ignored") // any change has OCM look at the add-on again
			Eventually(cluster.deployed).WithContext(ctx).WithArguments("left").Should(BeTrue())
		}
	}, NodeTimeout(time.Minute))
})

// waitsInChain installs a chain of add-ons in the worst order. Their names are those that named returns.
func waitsInChain(ctx context.Context, cluster managedCluster, named func(string) string) {
	GinkgoHelper()
	base, mid, top, eager := named("base"), named("mid"), named("top"), named("eager")
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
	Eventually(cluster.deployed).WithContext(ctx).WithArguments(eager).Should(BeTrue(), "without ordering, nothing waits")
	for _, name := range []string{top, mid} {
		Expect(cluster.gate(ctx, name)).To(Equal(closed))
		Eventually(cluster.installable).WithContext(ctx).WithArguments(name).Should(HavePrefix("False WaitingForDependencies: Required addon"))
	}
	Expect(cluster.gate(ctx, eager)).To(BeEmpty())

	By("nothing being written while they wait")
	expectQuiet(ctx)
	for _, name := range []string{top, mid} {
		Expect(cluster.deployed(ctx, name)).To(BeFalse())
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
	Eventually(cluster.emitted).WithContext(ctx).WithArguments(top, "GateOpened").ShouldNot(BeEmpty())
}

// bringsStack installs the top of a stack. Interlock has all else installed, in order, and removes it in order.
func bringsStack(ctx context.Context, cluster managedCluster) {
	portal := cluster.named("portal")
	stack := map[string][]string{
		portal: {cluster.named("gateway"), cluster.named("tunnel")}, cluster.named("gateway"): {cluster.named("tokens")},
		cluster.named("tunnel"): {cluster.named("tokens"), cluster.named("certs")}, cluster.named("tokens"): nil, cluster.named("certs"): nil,
	}
	for name, needs := range stack {
		register(ctx, name, bringing(needs...), true)
		consent(ctx, name)
	}
	for name, needs := range stack {
		if len(needs) > 0 {
			Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		}
	}
	cluster.install(ctx, portal)
	Eventually(cluster.whenAvailable).WithContext(ctx).WithArguments(portal).Should(BeNumerically(">", 0))
	for name, needs := range stack {
		for _, need := range needs {
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
	Consistently(cluster.absent).WithContext(ctx).WithArguments(names).WithTimeout(4 * time.Second).Should(BeEmpty())
	cluster.hold(ctx, portal, false)
	Eventually(cluster.absent).WithContext(ctx).WithArguments(names).Should(HaveLen(len(names)))
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
