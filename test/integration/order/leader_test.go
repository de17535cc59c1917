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

// warningClient returns a client of the hub, and the warnings that it receives.
func warningClient() (client.Client, *warnings) {
	GinkgoHelper()
	config, warningLog := rest.CopyConfig(hub.Config), &warnings{}
	config.WarningHandler = warningLog
	hubClient, err := client.New(config, client.Options{Scheme: hub.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return hubClient, warningLog
}

// dryRunFinalizers returns the finalizers that an add-on would have if it were created now.
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

	// waitStates returns whether a new add-on waits for its dependency, and whether the dependency would wait at its removal.
	waitStates := func(ctx context.Context) (string, error) {
		gate, err := withAgent.dryRunGate(ctx, "led-top")
		if err != nil {
			return "", err
		}
		finalizers, err := dryRunFinalizers(ctx, "led-base")
		switch finalized := len(finalizers) > 0; {
		case finalized && gate == closed:
			return "both wait", err
		case !finalized && gate == "":
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
			Eventually(waitStates).WithContext(ctx).Should(Equal("both wait"))

			By("its end")
			Expect(manager.Stop(ctx)).To(Succeed())
			manager = nil
			Expect(waitStates(ctx)).To(Equal("none waits"), "the lease is released before the process has ended")

			By("one without the lifecycle")
			manage(ctx, "Starting workers", "--guard=policy")
			Consistently(waitStates).WithContext(ctx).WithTimeout(3 * time.Second).Should(Equal("none waits"))
		}, NodeTimeout(time.Minute))
	}

	It("lets add-ons wait while another replica leads, whatever a process without leader election does", func(ctx context.Context) {
		manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
		Eventually(waitStates).WithContext(ctx).Should(Equal("both wait"))
		replica2 := deployment.Manage("--leader-elect=false", "--lifecycle", "--guard=policy")
		Eventually(replica2.Printed).WithContext(ctx).WithArguments("Starting workers").Should(BeTrue())
		Consistently(waitStates).WithContext(ctx).WithTimeout(3 * time.Second).Should(Equal("both wait"))
		Expect(replica2.Stop(ctx)).To(Succeed())
		Expect(waitStates(ctx)).To(Equal("both wait"), "it released no lease but its own")

		By("which takes the lease when the leader has ended")
		replica2 = deployment.Manage("--leader-elect=false", "--lifecycle", "--guard=policy")
		Expect(manager.Stop(ctx)).To(Succeed())
		manager = replica2
		Eventually(waitStates).WithContext(ctx).Should(Equal("both wait"))
	}, NodeTimeout(time.Minute))

	It("tells the user that an add-on does not wait", func(ctx context.Context) {
		Expect(manager.Stop(ctx)).To(Succeed())
		manager = nil
		user, warnings := warningClient()
		addOn := withAgent.reference("led-top")
		Expect(user.Create(ctx, addOn, client.DryRunAll)).To(Succeed())
		Expect(addOn.Annotations).NotTo(HaveKey(interlockv1alpha1.GateAnnotation))
		Expect(*warnings).To(ContainElement(
			"the installation of add-on 'led-top' does not wait for its dependencies: no addon-manager leads that runs with --lifecycle"))
	}, NodeTimeout(time.Minute))
})
