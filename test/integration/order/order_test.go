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

			DescribeTable("waits for its dependencies, in the order of a chain", func(ctx context.Context, on managedCluster) {
				waitsInChain(ctx, on, func(name string) string { return on.named(name + "-" + form) })
			}, onBoth(2*time.Minute))
		})
	}

	DescribeTable("does not wait on a cycle", func(ctx context.Context, on managedCluster) {
		there, back := on.named("there"), on.named("back")
		Expect(webhook.Stop(ctx)).To(Succeed()) // it refuses cycles
		register(ctx, there, ordered(back), true)
		register(ctx, back, ordered(there), true)
		serve("--lifecycle")
		Eventually(on.dryRunGate).WithContext(ctx).WithArguments("first-policy").Should(Equal(closed))
		for _, name := range []string{there, back} {
			on.install(ctx, name)
		}
		for _, name := range []string{there, back} {
			Eventually(on.deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
			Expect(on.gate(ctx, name)).To(BeEmpty())
		}

		By("one whose gate is closed by hand")
		on.remove(ctx, there)
		Eventually(on.gone).WithContext(ctx).WithArguments(there).Should(BeTrue())
		on.install(ctx, there, closed)
		Eventually(on.deployed).WithContext(ctx).WithArguments(there).Should(BeTrue())
		Eventually(on.installable).WithContext(ctx).WithArguments(there).Should(HavePrefix(
			"True GateOpened: The dependencies can never be satisfied: " + back + " → " + there + " → " + back + "."))
	}, onBoth(time.Minute))

	DescribeTable("follows the word of a user", func(ctx context.Context, on managedCluster) {
		atCreation, later, removed := on.named("opened-at-creation"), on.named("opened-later"), on.named("gate-removed")
		deleted, eager := on.named("deleted"), on.named("unordered")
		register(ctx, atCreation, ordered("missing"), true)
		on.install(ctx, atCreation, opened)
		Eventually(on.deployed).WithContext(ctx).WithArguments(atCreation).Should(BeTrue())
		Expect(on.gate(ctx, atCreation)).To(Equal(opened))

		register(ctx, later, ordered("missing"), true)
		on.install(ctx, later, closed)
		Eventually(on.installable).WithContext(ctx).WithArguments(later).Should(HavePrefix("False WaitingForDependencies"))
		Expect(on.deployed(ctx, later)).To(BeFalse())
		on.annotate(ctx, later, opened)
		Eventually(on.deployed).WithContext(ctx).WithArguments(later).Should(BeTrue())
		Eventually(on.installable).WithContext(ctx).WithArguments(later).Should(HavePrefix("True GateOpened: A user opened the gate"))

		By("removing the annotation")
		register(ctx, removed, ordered("missing"), true)
		on.install(ctx, removed, closed)
		Eventually(on.installable).WithContext(ctx).WithArguments(removed).Should(HavePrefix("False WaitingForDependencies"))
		removeAnnotation(ctx, on.reference(removed), interlockv1alpha1.GateAnnotation)
		Eventually(on.installable).WithContext(ctx).WithArguments(removed).Should(HavePrefix("True GateOpened: There is no gate"))
		Eventually(on.deployed).WithContext(ctx).WithArguments(removed).Should(BeTrue())

		By("deleting an add-on that waits")
		register(ctx, deleted, ordered("missing"), true)
		on.install(ctx, deleted, closed)
		Eventually(on.installable).WithContext(ctx).WithArguments(deleted).Should(HavePrefix("False WaitingForDependencies"))
		on.remove(ctx, deleted)
		Eventually(on.gone).WithContext(ctx).WithArguments(deleted).Should(BeTrue())

		By("closing it where nothing waits")
		register(ctx, eager, unordered("missing"), true)
		on.install(ctx, eager, closed)
		Eventually(on.gate).WithContext(ctx).WithArguments(eager).Should(Equal(opened))
		Eventually(on.deployed).WithContext(ctx).WithArguments(eager).Should(BeTrue())
	}, onBoth(time.Minute))

	DescribeTable("waits for what its AddOnTemplate declares, through v1beta1 as OCM creates it, and with a registration that fails", func(
		ctx context.Context, on managedCluster,
	) {
		name, needed := on.named("templated"), on.named("of-template")
		declaring := template(name)
		declaring.Annotations = map[string]string{interlockv1alpha1.TemplateDependenciesAnnotation: "[{name: " + needed + "}]"}
		Expect(hub.Client.Create(ctx, declaring)).To(Succeed())
		registerTemplated(ctx, name, "{ordering: Install}")
		Eventually(on.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		created := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: string(on), Name: name}}
		Expect(hub.Client.Create(ctx, created)).To(Succeed())
		Expect(created.Annotations).To(HaveKeyWithValue(interlockv1alpha1.GateAnnotation, closed))
		Eventually(on.installable).WithContext(ctx).WithArguments(name).Should(
			HavePrefix("False WaitingForDependencies: Required addon '" + needed + "'"))

		// OCM deploys an add-on whose registration failed, too.
		failed := `{"status":{"conditions":[{"type":"RegistrationApplied","status":"False","reason":"Tested","message":"",` +
			`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
		Expect(hub.Client.Status().Patch(ctx, created, client.RawPatch(types.MergePatchType, []byte(failed)))).To(Succeed())
		Consistently(on.deployed).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments(name).Should(BeFalse())
		Expect(on.condition(ctx, name, "RegistrationApplied")).To(BeEmpty())

		register(ctx, needed, "", true)
		on.install(ctx, needed)
		Eventually(on.deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		on.expectMadeAfter(ctx, name, needed)
	}, onBoth(time.Minute))

	DescribeTable("waits for an AddOnTemplate that GitOps applies after it", func(ctx context.Context, on managedCluster) {
		name, needed := on.named("templated-later"), on.named("of-later")
		registerTemplated(ctx, name, "{ordering: Install}")
		Eventually(on.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		on.install(ctx, name)
		Eventually(on.installable).WithContext(ctx).WithArguments(name).Should(Equal(
			"False WaitingForDependencies: AddOnTemplate '" + name + "' does not exist. Create it, or name another one."))

		declaring := template(name)
		declaring.Annotations = map[string]string{interlockv1alpha1.TemplateDependenciesAnnotation: "[{name: " + needed + "}]"}
		Expect(hub.Client.Create(ctx, declaring)).To(Succeed())
		Eventually(on.installable).WithContext(ctx).WithArguments(name).Should(
			HavePrefix("False WaitingForDependencies: Required addon '" + needed + "'"))
		Expect(on.deployed(ctx, name)).To(BeFalse())

		register(ctx, needed, "", true)
		on.install(ctx, needed)
		Eventually(on.deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		on.expectMadeAfter(ctx, name, needed)
	}, onBoth(time.Minute))

	DescribeTable("does not wait while the webhook is away", func(ctx context.Context, on managedCluster) {
		name := on.named("unnoticed")
		Expect(webhook.Stop(ctx)).To(Succeed())
		register(ctx, name, ordered("missing"), true)
		on.install(ctx, name)
		Expect(on.gate(ctx, name)).To(BeEmpty())
		Eventually(on.deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		serve("--lifecycle")
		Eventually(on.dryRunGate).WithContext(ctx).WithArguments("first-policy").Should(Equal(closed))
	}, onBoth(time.Minute))

	Describe("that brings all that it needs", Ordered, func() {
		BeforeAll(func(ctx context.Context) {
			manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
		}, NodeTimeout(time.Minute))

		DescribeTable("waits for each of them, and each for what it needs itself", bringsStack, onBoth(time.Minute))
	})

	It("is released when Interlock is uninstalled, with and without addon-agent", func(ctx context.Context) {
		register(ctx, "released", ordered("missing"), true)
		for _, on := range []managedCluster{withAgent, withoutAgent} {
			on.install(ctx, "released", closed)
			Eventually(on.installable).WithContext(ctx).WithArguments("released").Should(HavePrefix("False WaitingForDependencies"))
			Expect(on.deployed(ctx, "released")).To(BeFalse())
		}
		Expect(uninstall(ctx)).To(ContainSubstring("opened and removed, none is left"))
		for _, on := range []managedCluster{withAgent, withoutAgent} {
			Eventually(on.deployed).WithContext(ctx).WithArguments("released").Should(BeTrue())
			Expect(on.gate(ctx, "released")).To(BeEmpty())
			Expect(on.installable(ctx, "released")).To(BeEmpty())
		}
		Expect(ruleIsInstalled(ctx)).To(BeFalse())
	}, NodeTimeout(time.Minute))

	It("does not wait with the lifecycle off, and a gate that was closed holds nothing, with and without addon-agent", func(
		ctx context.Context,
	) {
		manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
		register(ctx, "left", ordered("missing"), true)
		for _, on := range []managedCluster{withAgent, withoutAgent} {
			on.install(ctx, "left", closed)
			Eventually(on.installable).WithContext(ctx).WithArguments("left").Should(HavePrefix("False WaitingForDependencies"))
		}

		Expect(webhook.Stop(ctx)).To(Succeed())
		serve()
		manage(ctx, "Removed the rule", "--guard=policy")
		Eventually(ruleIsInstalled).WithContext(ctx).Should(BeFalse())
		register(ctx, "off", ordered("missing"), true)
		for _, on := range []managedCluster{withAgent, withoutAgent} {
			on.install(ctx, "off")
			Expect(on.gate(ctx, "off")).To(BeEmpty())
			Eventually(on.deployed).WithContext(ctx).WithArguments("off").Should(BeTrue())
			on.annotate(ctx, "left", "ignored") // any change has OCM look at the add-on again
			Eventually(on.deployed).WithContext(ctx).WithArguments("left").Should(BeTrue())
		}
	}, NodeTimeout(time.Minute))
})

// waitsInChain installs a chain of add-ons in the worst order. Their names are those that named returns.
func waitsInChain(ctx context.Context, on managedCluster, named func(string) string) {
	GinkgoHelper()
	base, mid, top, eager := named("base"), named("mid"), named("top"), named("eager")
	register(ctx, base, ordered(), true)
	register(ctx, mid, ordered(base), true)
	register(ctx, top, ordered(mid), true)
	register(ctx, eager, unordered(base), true)
	for _, name := range []string{top, mid} {
		Eventually(on.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
	}
	for _, name := range []string{top, mid, eager} {
		on.install(ctx, name)
	}
	Eventually(on.deployed).WithContext(ctx).WithArguments(eager).Should(BeTrue(), "without ordering, nothing waits")
	for _, name := range []string{top, mid} {
		Expect(on.gate(ctx, name)).To(Equal(closed))
		Eventually(on.installable).WithContext(ctx).WithArguments(name).Should(HavePrefix("False WaitingForDependencies: Required addon"))
	}
	Expect(on.gate(ctx, eager)).To(BeEmpty())

	By("nothing being written while they wait")
	expectQuiet(ctx)
	for _, name := range []string{top, mid} {
		Expect(on.deployed(ctx, name)).To(BeFalse())
	}

	began := time.Now()
	on.install(ctx, base)
	Eventually(on.whenAvailable).WithContext(ctx).WithArguments(top).Should(BeNumerically(">", 0))
	AddReportEntry("from the installation of base until top is available", time.Since(began).String())
	on.expectMadeAfter(ctx, mid, base)
	on.expectMadeAfter(ctx, top, mid)
	for _, name := range []string{top, mid} {
		Expect(on.gate(ctx, name)).To(Equal(opened))
		Expect(on.installable(ctx, name)).To(HavePrefix("True RequiredDependenciesSatisfied"))
	}
	Expect(on.gate(ctx, base)).To(BeEmpty(), "it never had to wait")
	Eventually(on.emitted).WithContext(ctx).WithArguments(top, "GateOpened").ShouldNot(BeEmpty())
}

// bringsStack installs the top of a stack. Interlock has all else installed, in order, and removes it in order.
func bringsStack(ctx context.Context, on managedCluster) {
	portal := on.named("portal")
	stack := map[string][]string{
		portal: {on.named("gateway"), on.named("tunnel")}, on.named("gateway"): {on.named("tokens")},
		on.named("tunnel"): {on.named("tokens"), on.named("certs")}, on.named("tokens"): nil, on.named("certs"): nil,
	}
	for name, needs := range stack {
		register(ctx, name, bringing(needs...), true)
		consent(ctx, name)
	}
	for name, needs := range stack {
		if len(needs) > 0 {
			Eventually(on.dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
		}
	}
	on.install(ctx, portal)
	Eventually(on.whenAvailable).WithContext(ctx).WithArguments(portal).Should(BeNumerically(">", 0))
	for name, needs := range stack {
		for _, need := range needs {
			on.expectMadeAfter(ctx, name, need)
		}
		found, err := on.addOn(ctx, name)
		Expect(err).NotTo(HaveOccurred())
		Expect(found.Labels[interlockv1alpha1.InstalledByLabel]).To(Equal(map[bool]string{true: "interlock"}[name != portal]), name)
		if name != portal {
			Expect(found.Finalizers).To(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer), "%s goes after those that need it", name)
		}
	}

	By("removing all of it at once")
	names := slices.Sorted(maps.Keys(stack))
	on.hold(ctx, portal, true)
	for _, name := range names {
		on.remove(ctx, name)
	}
	Consistently(on.absent).WithContext(ctx).WithArguments(names).WithTimeout(4 * time.Second).Should(BeEmpty())
	on.hold(ctx, portal, false)
	Eventually(on.absent).WithContext(ctx).WithArguments(names).Should(HaveLen(len(names)))
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
