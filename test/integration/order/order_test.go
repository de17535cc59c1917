package order

import (
	"context"
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	gaterule "open-cluster-management.io/interlock/pkg/compat/gate"
	"open-cluster-management.io/interlock/pkg/compat/rule"
	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/witness"
)

const (
	closed = interlockv1alpha1.GateClosed
	opened = interlockv1alpha1.GateOpen
	// quiet is how long nothing may be written: four polls of OCM's agent.
	quiet = 8 * time.Second
)

var _ = Describe("The installation of an add-on", Ordered, func() {
	for _, form := range []string{"policy", "webhook"} {
		Describe("with the gate rule as a "+form, Ordered, func() {
			of := func(name string) string { return name + "-" + form }

			BeforeAll(func(ctx context.Context) {
				manage(ctx, "Gate rule is in force", "--lifecycle", "--guard="+form)
				register(ctx, of("first"), ordered("missing"), false)
				Eventually(dryRunGate).WithContext(ctx).WithArguments(of("first")).Should(Equal(closed))
			}, NodeTimeout(time.Minute))

			It("waits for its dependencies, in the order of a chain", func(ctx context.Context) {
				register(ctx, of("base"), ordered(), true)
				register(ctx, of("mid"), ordered(of("base")), true)
				register(ctx, of("top"), ordered(of("mid")), true)
				register(ctx, of("eager"), unordered(of("base")), true)
				for _, name := range []string{"top", "mid"} {
					Eventually(dryRunGate).WithContext(ctx).WithArguments(of(name)).Should(Equal(closed))
				}
				for _, name := range []string{"top", "mid", "eager"} { // the worst order
					install(ctx, of(name))
				}
				Eventually(deployed).WithContext(ctx).WithArguments(of("eager")).Should(BeTrue(), "without ordering, nothing waits")
				for _, name := range []string{"top", "mid"} {
					Expect(gate(ctx, of(name))).To(Equal(closed))
					Eventually(installable).WithContext(ctx).WithArguments(of(name)).Should(HavePrefix("False WaitingForDependencies: Required addon"))
				}
				Expect(gate(ctx, of("eager"))).To(BeEmpty())

				By("nothing being written while they wait")
				w, err := witness.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog})
				Expect(err).NotTo(HaveOccurred())
				defer w.Stop()
				Expect(w.Settle(ctx, 3*time.Second)).To(Succeed())
				counts, err := w.Quiet(ctx, quiet)
				Expect(err).NotTo(HaveOccurred())
				for _, row := range counts.Rows {
					if row.Object.Resource == "events" && strings.Contains(row.Writer.String(), "placement") {
						continue // OCM still reports what it has decided for another spec
					}
					Expect(row.Writer.Interlock()).To(BeFalse(), counts.String())
					// OCM's agent insists that there is no lease, which the guard answers. OCM's add-on manager does not insist.
					Expect(row.Writes).To(Equal(row.Unchanged), counts.String())
					Expect(row.Writer.String()).NotTo(ContainSubstring("addon-manager"), counts.String())
				}
				Expect(w.Findings(ctx)).To(BeEmpty())
				for _, name := range []string{"top", "mid"} {
					Expect(deployed(ctx, of(name))).To(BeFalse())
				}

				began := time.Now()
				install(ctx, of("base"))
				Eventually(whenAvailable).WithContext(ctx).WithArguments(of("top")).Should(BeNumerically(">", 0))
				AddReportEntry("from the installation of base until top is available", time.Since(began).String())
				Expect(whenMade(of("mid"))).To(BeNumerically(">", whenAvailable(of("base"))))
				Expect(whenMade(of("top"))).To(BeNumerically(">", whenAvailable(of("mid"))))
				for _, name := range []string{"top", "mid"} {
					Expect(gate(ctx, of(name))).To(Equal(opened))
					Expect(installable(ctx, of(name))).To(HavePrefix("True RequiredDependenciesSatisfied"))
				}
				Expect(gate(ctx, of("base"))).To(BeEmpty(), "it never had to wait")
				Eventually(emitted).WithContext(ctx).WithArguments(of("top"), "GateOpened").ShouldNot(BeEmpty())
			}, NodeTimeout(2*time.Minute))
		})
	}

	It("does not wait on a cycle", func(ctx context.Context) {
		Expect(webhook.Stop(ctx)).To(Succeed()) // it refuses cycles
		register(ctx, "there", ordered("back"), true)
		register(ctx, "back", ordered("there"), true)
		serve("--lifecycle")
		Eventually(dryRunGate).WithContext(ctx).WithArguments("first-policy").Should(Equal(closed))
		for _, name := range []string{"there", "back"} {
			install(ctx, name)
		}
		for _, name := range []string{"there", "back"} {
			Eventually(deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
			Expect(gate(ctx, name)).To(BeEmpty())
		}

		By("one whose gate is closed by hand")
		there := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "there"}}
		Expect(hub.Client.Delete(ctx, there)).To(Succeed())
		Eventually(func() error {
			_, err := addOn(ctx, "there")
			return err
		}).WithContext(ctx).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
		install(ctx, "there", closed)
		Eventually(deployed).WithContext(ctx).WithArguments("there").Should(BeTrue())
		Eventually(installable).WithContext(ctx).WithArguments("there").Should(
			HavePrefix("True GateOpened: The dependencies can never be satisfied: back → there → back."))
	}, NodeTimeout(time.Minute))

	It("follows the word of a user", func(ctx context.Context) {
		register(ctx, "opened-at-creation", ordered("missing"), true)
		install(ctx, "opened-at-creation", opened)
		Eventually(deployed).WithContext(ctx).WithArguments("opened-at-creation").Should(BeTrue())
		Expect(gate(ctx, "opened-at-creation")).To(Equal(opened))

		register(ctx, "opened-later", ordered("missing"), true)
		install(ctx, "opened-later", closed)
		Eventually(installable).WithContext(ctx).WithArguments("opened-later").Should(HavePrefix("False WaitingForDependencies"))
		Expect(deployed(ctx, "opened-later")).To(BeFalse())
		annotate(ctx, "opened-later", opened)
		Eventually(deployed).WithContext(ctx).WithArguments("opened-later").Should(BeTrue())
		Eventually(installable).WithContext(ctx).WithArguments("opened-later").Should(HavePrefix("True GateOpened: A user opened the gate"))

		By("deleting an add-on that waits")
		register(ctx, "deleted", ordered("missing"), true)
		install(ctx, "deleted", closed)
		Eventually(installable).WithContext(ctx).WithArguments("deleted").Should(HavePrefix("False WaitingForDependencies"))
		Expect(hub.Client.Delete(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "deleted"}})).
			To(Succeed())
		Eventually(func() error {
			_, err := addOn(ctx, "deleted")
			return err
		}).WithContext(ctx).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))

		By("closing it where nothing waits")
		register(ctx, "unordered", unordered("missing"), true)
		install(ctx, "unordered", closed)
		Eventually(gate).WithContext(ctx).WithArguments("unordered").Should(Equal(opened))
		Eventually(deployed).WithContext(ctx).WithArguments("unordered").Should(BeTrue())
	}, NodeTimeout(time.Minute))

	It("waits for what its AddOnTemplate declares, through v1beta1 as OCM creates it, and with a registration that fails", func(
		ctx context.Context,
	) {
		declaring := template("templated")
		declaring.Annotations = map[string]string{interlockv1alpha1.TemplateDependenciesAnnotation: "[{name: of-template}]"}
		Expect(hub.Client.Create(ctx, declaring)).To(Succeed())
		registerTemplated(ctx, "templated", "{ordering: Install}")
		Eventually(dryRunGate).WithContext(ctx).WithArguments("templated").Should(Equal(closed))
		created := &addonv1beta1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "templated"}}
		Expect(hub.Client.Create(ctx, created)).To(Succeed())
		Expect(created.Annotations).To(HaveKeyWithValue(interlockv1alpha1.GateAnnotation, closed))
		Eventually(installable).WithContext(ctx).WithArguments("templated").Should(
			HavePrefix("False WaitingForDependencies: Required addon 'of-template'"))

		// OCM deploys an add-on whose registration failed, too.
		failed := `{"status":{"conditions":[{"type":"RegistrationApplied","status":"False","reason":"Tested","message":"",` +
			`"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
		Expect(hub.Client.Status().Patch(ctx, created, client.RawPatch(types.MergePatchType, []byte(failed)))).To(Succeed())
		Consistently(deployed).WithContext(ctx).WithTimeout(2 * time.Second).WithArguments("templated").Should(BeFalse())
		Expect(condition(ctx, "templated", "RegistrationApplied")).To(BeEmpty())

		register(ctx, "of-template", "", true)
		install(ctx, "of-template")
		Eventually(deployed).WithContext(ctx).WithArguments("templated").Should(BeTrue())
		Expect(whenMade("templated")).To(BeNumerically(">", whenAvailable("of-template")))
	}, NodeTimeout(time.Minute))

	It("does not wait while the webhook is away", func(ctx context.Context) {
		Expect(webhook.Stop(ctx)).To(Succeed())
		register(ctx, "unnoticed", ordered("missing"), true)
		install(ctx, "unnoticed")
		Expect(gate(ctx, "unnoticed")).To(BeEmpty())
		Eventually(deployed).WithContext(ctx).WithArguments("unnoticed").Should(BeTrue())
		serve("--lifecycle")
		Eventually(dryRunGate).WithContext(ctx).WithArguments("first-policy").Should(Equal(closed))
	}, NodeTimeout(time.Minute))

	It("brings all that the add-on needs, each once what it needs itself is available", func(ctx context.Context) {
		manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
		stack := map[string][]string{
			"portal": {"gateway", "tunnel"}, "gateway": {"tokens"}, "tunnel": {"tokens", "certs"}, "tokens": nil, "certs": nil,
		}
		for name, needs := range stack {
			register(ctx, name, bringing(needs...), true)
			consent(ctx, name)
		}
		for name, needs := range stack {
			if len(needs) > 0 {
				Eventually(dryRunGate).WithContext(ctx).WithArguments(name).Should(Equal(closed))
			}
		}
		install(ctx, "portal")
		Eventually(whenAvailable).WithContext(ctx).WithArguments("portal").Should(BeNumerically(">", 0))
		for name, needs := range stack {
			for _, need := range needs {
				Expect(whenMade(name)).To(BeNumerically(">", whenAvailable(need)), "%s needs %s", name, need)
			}
			found, err := addOn(ctx, name)
			Expect(err).NotTo(HaveOccurred())
			Expect(found.Labels[interlockv1alpha1.InstalledByLabel]).To(Equal(map[bool]string{true: "interlock"}[name != "portal"]), name)
			if name != "portal" {
				Expect(found.Finalizers).To(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer), "%s goes after those that need it", name)
			}
		}

		By("removing all of it at once")
		hold(ctx, "portal", true)
		for name := range stack {
			remove(ctx, name)
		}
		Consistently(func() []string { return absent(ctx, stack) }).WithTimeout(4 * time.Second).Should(BeEmpty())
		hold(ctx, "portal", false)
		Eventually(func() []string { return absent(ctx, stack) }).Should(HaveLen(len(stack)))
	}, NodeTimeout(time.Minute))

	It("is released when Interlock is uninstalled", func(ctx context.Context) {
		register(ctx, "released", ordered("missing"), true)
		install(ctx, "released", closed)
		Eventually(installable).WithContext(ctx).WithArguments("released").Should(HavePrefix("False WaitingForDependencies"))
		Expect(deployed(ctx, "released")).To(BeFalse())
		Expect(manager.Stop(ctx)).To(Succeed())
		manager = nil
		out, err := exec.CommandContext(ctx, interlocked.Program, "uninstall", "--kubeconfig", hub.Kubeconfig(),
			"--namespace", interlock.Namespace).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s", out)
		Expect(string(out)).To(ContainSubstring("opened and removed, none is left"))
		Eventually(deployed).WithContext(ctx).WithArguments("released").Should(BeTrue())
		Expect(gate(ctx, "released")).To(BeEmpty())
		Expect(installable(ctx, "released")).To(BeEmpty())
		Expect(ruleIsInstalled(ctx)).To(BeFalse())
	}, NodeTimeout(time.Minute))

	It("does not wait with the lifecycle off, and a gate that was closed holds nothing", func(ctx context.Context) {
		manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
		register(ctx, "left", ordered("missing"), true)
		install(ctx, "left", closed)
		Eventually(installable).WithContext(ctx).WithArguments("left").Should(HavePrefix("False WaitingForDependencies"))

		Expect(webhook.Stop(ctx)).To(Succeed())
		serve()
		manage(ctx, "Removed the rule", "--guard=policy")
		Eventually(ruleIsInstalled).WithContext(ctx).Should(BeFalse())
		register(ctx, "off", ordered("missing"), true)
		install(ctx, "off")
		Expect(gate(ctx, "off")).To(BeEmpty())
		Eventually(deployed).WithContext(ctx).WithArguments("off").Should(BeTrue())
		annotate(ctx, "left", "ignored") // any change has OCM look at the add-on again
		Eventually(deployed).WithContext(ctx).WithArguments("left").Should(BeTrue())
	}, NodeTimeout(time.Minute))
})

// dryRunGate is the gate that an add-on would have if it were created now.
func dryRunGate(ctx context.Context, name string) (string, error) {
	created := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	err := hub.Client.Create(ctx, created, client.DryRunAll)
	return created.Annotations[interlockv1alpha1.GateAnnotation], err
}

// emitted are the notes of the events on an add-on with a reason.
func emitted(ctx context.Context, name, reason string) ([]string, error) {
	return ocmsuite.Notes(ctx, hub, cluster, name, reason)()
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
