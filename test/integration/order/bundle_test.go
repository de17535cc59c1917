package order

import (
	"bytes"
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// bundled registers an add-on without an agent.
func bundled(ctx context.Context, name, declares string) {
	GinkgoHelper()
	bundle := registration(name, declares)
	bundle.Annotations[interlockv1alpha1.BundleAnnotation] = "true"
	Expect(hub.Client.Create(ctx, bundle)).To(Succeed())
}

func (on managedCluster) available(ctx context.Context, name string) (string, error) {
	return on.condition(ctx, name, "Available")
}

func (on managedCluster) degraded(ctx context.Context, name string) (string, error) {
	return on.condition(ctx, name, "Degraded")
}

// healthCheck is the mode in which the health of an add-on is checked.
func (on managedCluster) healthCheck(ctx context.Context, name string) (string, error) {
	found, err := on.addOn(ctx, name)
	return string(found.Status.HealthCheck.Mode), err
}

func (on managedCluster) expectRemoved(ctx context.Context, name string) {
	GinkgoHelper()
	on.remove(ctx, name)
	Eventually(on.gone).WithContext(ctx).WithArguments(name).Should(BeTrue())
}

var _ = Describe("A bundle", Ordered, func() {
	BeforeAll(lifecycleOn, NodeTimeout(time.Minute))

	DescribeTable("is available where all that it requires is, and no writer changes what another one has set", func(
		ctx context.Context, on managedCluster,
	) {
		first, second, stack, top := on.named("member-1"), on.named("member-2"), on.named("stack"), on.named("on-stack")
		register(ctx, first, "", true)
		register(ctx, second, "", true)
		bundled(ctx, stack, unordered(first, second))
		register(ctx, top, ordered(stack), true)
		Eventually(on.dryRunGate).WithContext(ctx).WithArguments(top).Should(Equal(closed))
		for _, name := range []string{stack, first, top} {
			on.install(ctx, name)
		}
		Eventually(on.available).WithContext(ctx).WithArguments(stack).Should(
			HavePrefix("False RequiredDependencyNotSatisfied: Required addon '" + second + "' is not installed"))
		Expect(on.deployed(ctx, top)).To(BeFalse())

		on.install(ctx, second)
		Eventually(on.available).WithContext(ctx).WithArguments(stack).Should(HavePrefix("True BundleAvailable: "))
		on.expectMadeAfter(ctx, top, stack)
		Expect(on.deployed(ctx, stack)).To(BeFalse())
		Eventually(on.available).WithContext(ctx).WithArguments(top).Should(HavePrefix("True"))

		By("nothing being written while OCM's agent looks for leases")
		expectNoWrites(ctx, stack)

		By("a member going")
		on.expectRemoved(ctx, first)
		Eventually(on.available).WithContext(ctx).WithArguments(stack).Should(
			HavePrefix("False RequiredDependencyNotSatisfied: Required addon '" + first + "'"))
		on.install(ctx, first)
		Eventually(on.available).WithContext(ctx).WithArguments(stack).Should(HavePrefix("True BundleAvailable: "))

		By("the add-on being no bundle any more")
		removeAnnotation(ctx, registration(stack, ""), interlockv1alpha1.BundleAnnotation)
		Eventually(on.available).WithContext(ctx).WithTimeout(time.Minute).WithArguments(stack).Should(
			HavePrefix("Unknown ManagedClusterAddOnLeaseNotFound"), "OCM's agent looks for leases every 30 seconds")

		By("a member going that a former bundle requires")
		on.expectRemoved(ctx, first)
		Eventually(on.degraded).WithContext(ctx).WithArguments(stack).Should(HavePrefix("True RequiredDependencyNotSatisfied"))
		on.install(ctx, first)
		Eventually(on.degraded).WithContext(ctx).WithArguments(stack).Should(HavePrefix("False DependenciesSatisfied"))
		on.expectRemoved(ctx, stack)
	}, onBoth(2*time.Minute))

	DescribeTable("hands its health over while a member is missing", func(ctx context.Context, on managedCluster) {
		member, former := on.named("late-member"), on.named("former")
		register(ctx, member, "", true)
		bundled(ctx, former, ordered(member))
		Eventually(on.dryRunGate).WithContext(ctx).WithArguments(former).Should(Equal(closed))
		on.install(ctx, former)
		Eventually(on.available).WithContext(ctx).WithArguments(former).Should(HavePrefix("False RequiredDependencyNotSatisfied"))
		Eventually(on.healthCheck).WithContext(ctx).WithArguments(former).Should(Equal("Customized"))

		removeAnnotation(ctx, registration(former, ""), interlockv1alpha1.BundleAnnotation)
		Eventually(on.healthCheck).WithContext(ctx).WithArguments(former).Should(Equal("Lease"))
		on.install(ctx, member)
		Eventually(on.degraded).WithContext(ctx).WithArguments(former).Should(HavePrefix("False DependenciesSatisfied"))
		Eventually(on.gate).WithContext(ctx).WithArguments(former).Should(Equal(opened))
		Eventually(on.available).WithContext(ctx).WithTimeout(time.Minute).WithArguments(former).ShouldNot(HavePrefix("False"))
		on.expectRemoved(ctx, former)
	}, onBoth(2*time.Minute))

	DescribeTable("is installed by the plugin with all that it requires", func(ctx context.Context, on managedCluster) {
		first, second, whole := on.named("whole-1"), on.named("whole-2"), on.named("whole")
		register(ctx, first, "", true)
		register(ctx, second, unordered(first), true)
		bundled(ctx, whole, unordered(first, second))
		var out bytes.Buffer
		command := cli.NewCommand(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out})
		command.SetArgs([]string{
			"install", whole, "--cluster", string(on), "--yes", "--wait", "--timeout", "30s", "--kubeconfig", hub.Kubeconfig(),
		})
		Expect(cmdline.Run(ctx, command, &out)).To(Equal(cmdline.ExitOK), out.String)
		Expect(on.available(ctx, whole)).To(HavePrefix("True BundleAvailable: "))
		Eventually(on.whenAvailable).WithContext(ctx).WithArguments(whole).Should(BeNumerically(">", on.whenAvailable(second)))
	}, onBoth(time.Minute))
})
