package order

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// warned is a client of the hub, and the warnings that it has received.
func warned() (client.Client, *warnings) {
	GinkgoHelper()
	config, warningLog := rest.CopyConfig(hub.Config), &warnings{}
	config.WarningHandler = warningLog
	made, err := client.New(config, client.Options{Scheme: hub.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return made, warningLog
}

// dryRunFinalizers are the finalizers that an add-on would have if it were created now.
func dryRunFinalizers(ctx context.Context, name string) ([]string, error) {
	addOn := withAgent.reference(name)
	err := hub.Client.Create(ctx, addOn, client.DryRunAll)
	return addOn.Finalizers, err
}

var _ = Describe("Admission", Ordered, func() {
	BeforeAll(func(ctx context.Context) {
		lifecycleOn(ctx)
		register(ctx, "led-base", "", false)
		register(ctx, "led-top", ordered("led-base"), false)
		Eventually(withAgent.dryRunGate).WithContext(ctx).WithArguments("led-top").Should(Equal(closed))
	}, NodeTimeout(time.Minute))

	// waits reports whether a new add-on waits for the one that it requires, and that one for its removal.
	waits := func(ctx context.Context) (string, error) {
		gate, err := withAgent.dryRunGate(ctx, "led-top")
		if err != nil {
			return "", err
		}
		finalizers, err := dryRunFinalizers(ctx, "led-base")
		switch held := len(finalizers) > 0; {
		case held && gate == closed:
			return "both wait", err
		case !held && gate == "":
			return "none waits", err
		default:
			return "gate " + gate, err
		}
	}

	for name, flags := range map[string][]string{
		"a leader": {"--lifecycle", "--guard=policy"}, "a process without leader election": {
			"--leader-elect=false", "--lifecycle",
			"--guard=policy",
		},
	} {
		It("lets add-ons wait only while "+name+" runs the lifecycle", func(ctx context.Context) {
			manage(ctx, "Gate rule is in force", flags...)
			Eventually(waits).WithContext(ctx).Should(Equal("both wait"))

			By("its end")
			Expect(manager.Stop(ctx)).To(Succeed())
			manager = nil
			Expect(waits(ctx)).To(Equal("none waits"), "the lease is released before the process has ended")

			By("one without the lifecycle")
			manage(ctx, "Starting workers", "--guard=policy")
			Consistently(waits).WithContext(ctx).WithTimeout(3 * time.Second).Should(Equal("none waits"))
		}, NodeTimeout(time.Minute))
	}

	It("lets them wait while another replica leads, whatever a process without leader election does", func(ctx context.Context) {
		manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
		Eventually(waits).WithContext(ctx).Should(Equal("both wait"))
		second := interlocked.Manage("--leader-elect=false", "--lifecycle", "--guard=policy")
		Eventually(second.Printed).WithContext(ctx).WithArguments("Starting workers").Should(BeTrue())
		Consistently(waits).WithContext(ctx).WithTimeout(3 * time.Second).Should(Equal("both wait"))
		Expect(second.Stop(ctx)).To(Succeed())
		Expect(waits(ctx)).To(Equal("both wait"), "it released no lease but its own")

		By("which takes the lease when the leader has ended")
		second = interlocked.Manage("--leader-elect=false", "--lifecycle", "--guard=policy")
		Expect(manager.Stop(ctx)).To(Succeed())
		manager = second
		Eventually(waits).WithContext(ctx).Should(Equal("both wait"))
	}, NodeTimeout(time.Minute))

	It("tells the user that an add-on does not wait", func(ctx context.Context) {
		Expect(manager.Stop(ctx)).To(Succeed())
		manager = nil
		user, warnings := warned()
		addOn := withAgent.reference("led-top")
		Expect(user.Create(ctx, addOn, client.DryRunAll)).To(Succeed())
		Expect(addOn.Annotations).NotTo(HaveKey(interlockv1alpha1.GateAnnotation))
		Expect(*warnings).To(ContainElement(
			"the installation of add-on 'led-top' does not wait for its dependencies: no addon-manager leads that runs with --lifecycle"))
	}, NodeTimeout(time.Minute))
})
