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
func bundled(ctx context.Context, name, declaration string) {
	GinkgoHelper()
	bundle := registration(name, declaration)
	bundle.Annotations[interlockv1alpha1.BundleAnnotation] = "true"
	Expect(hub.Client.Create(ctx, bundle)).To(Succeed())
}

func (c managedCluster) available(ctx context.Context, name string) (string, error) {
	return c.condition(ctx, name, "Available")
}

func (c managedCluster) degraded(ctx context.Context, name string) (string, error) {
	return c.condition(ctx, name, "Degraded")
}

// healthCheck returns the health check mode of an add-on.
func (c managedCluster) healthCheck(ctx context.Context, name string) (string, error) {
	addOn, err := c.addOn(ctx, name)
	return string(addOn.Status.HealthCheck.Mode), err
}

func (c managedCluster) expectRemoved(ctx context.Context, name string) {
	GinkgoHelper()
	c.remove(ctx, name)
	Eventually(c.isDeleted).WithContext(ctx).WithArguments(name).Should(BeTrue())
}

var _ = Describe("A bundle", Ordered, func() {
	BeforeAll(lifecycleOn, NodeTimeout(time.Minute))

	DescribeTable("is available where all its dependencies are available, and no writer overwrites another one", func(
		ctx context.Context, cluster managedCluster,
	) {
		member1, member2 := cluster.uniqueName("member-1"), cluster.uniqueName("member-2")
		stack, top := cluster.uniqueName("stack"), cluster.uniqueName("on-stack")
		register(ctx, member1, "", true)
		register(ctx, member2, "", true)
		bundled(ctx, stack, unordered(member1, member2))
		register(ctx, top, ordered(stack), true)
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(top).Should(Equal(closed))
		for _, name := range []string{stack, member1, top} {
			cluster.install(ctx, name)
		}
		Eventually(cluster.available).WithContext(ctx).WithArguments(stack).Should(
			HavePrefix("False RequiredDependencyNotSatisfied: Required addon '" + member2 + "' is not installed"))
		Expect(cluster.isDeployed(ctx, top)).To(BeFalse())

		cluster.install(ctx, member2)
		Eventually(cluster.available).WithContext(ctx).WithArguments(stack).Should(HavePrefix("True BundleAvailable: "))
		cluster.expectMadeAfter(ctx, top, stack)
		Expect(cluster.isDeployed(ctx, stack)).To(BeFalse())
		Eventually(cluster.available).WithContext(ctx).WithArguments(top).Should(HavePrefix("True"))

		By("nothing being written while OCM's agent looks for leases")
		expectNoWrites(ctx, stack)

		By("a member going")
		cluster.expectRemoved(ctx, member1)
		Eventually(cluster.available).WithContext(ctx).WithArguments(stack).Should(
			HavePrefix("False RequiredDependencyNotSatisfied: Required addon '" + member1 + "'"))
		cluster.install(ctx, member1)
		Eventually(cluster.available).WithContext(ctx).WithArguments(stack).Should(HavePrefix("True BundleAvailable: "))

		By("the add-on being no bundle any more")
		removeAnnotation(ctx, registration(stack, ""), interlockv1alpha1.BundleAnnotation)
		Eventually(cluster.available).WithContext(ctx).WithTimeout(time.Minute).WithArguments(stack).Should(
			HavePrefix("Unknown ManagedClusterAddOnLeaseNotFound"), "OCM's agent looks for leases every 30 seconds")

		By("a member going that a former bundle requires")
		cluster.expectRemoved(ctx, member1)
		Eventually(cluster.degraded).WithContext(ctx).WithArguments(stack).Should(HavePrefix("True RequiredDependencyNotSatisfied"))
		cluster.install(ctx, member1)
		Eventually(cluster.degraded).WithContext(ctx).WithArguments(stack).Should(HavePrefix("False DependenciesSatisfied"))
		cluster.expectRemoved(ctx, stack)
	}, onBoth(2*time.Minute))

	DescribeTable("hands its health check to OCM while a member is missing", func(ctx context.Context, cluster managedCluster) {
		member, former := cluster.uniqueName("late-member"), cluster.uniqueName("former")
		register(ctx, member, "", true)
		bundled(ctx, former, ordered(member))
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(former).Should(Equal(closed))
		cluster.install(ctx, former)
		Eventually(cluster.available).WithContext(ctx).WithArguments(former).Should(HavePrefix("False RequiredDependencyNotSatisfied"))
		Eventually(cluster.healthCheck).WithContext(ctx).WithArguments(former).Should(Equal("Customized"))

		removeAnnotation(ctx, registration(former, ""), interlockv1alpha1.BundleAnnotation)
		Eventually(cluster.healthCheck).WithContext(ctx).WithArguments(former).Should(Equal("Lease"))
		cluster.install(ctx, member)
		Eventually(cluster.degraded).WithContext(ctx).WithArguments(former).Should(HavePrefix("False DependenciesSatisfied"))
		Eventually(cluster.gate).WithContext(ctx).WithArguments(former).Should(Equal(opened))
		Eventually(cluster.available).WithContext(ctx).WithTimeout(time.Minute).WithArguments(former).ShouldNot(HavePrefix("False"))
		cluster.expectRemoved(ctx, former)
	}, onBoth(2*time.Minute))

	DescribeTable("is installed by the plugin with all its dependencies", func(ctx context.Context, cluster managedCluster) {
		member1, member2, whole := cluster.uniqueName("whole-1"), cluster.uniqueName("whole-2"), cluster.uniqueName("whole")
		register(ctx, member1, "", true)
		register(ctx, member2, unordered(member1), true)
		bundled(ctx, whole, unordered(member1, member2))
		var out bytes.Buffer
		command := cli.NewCommand(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out})
		command.SetArgs([]string{
			"install", whole, "--cluster", string(cluster), "--yes", "--wait", "--timeout", "30s", "--kubeconfig", hub.Kubeconfig(),
		})
		Expect(cmdline.Run(ctx, command, &out)).To(Equal(cmdline.ExitOK), out.String)
		Expect(cluster.available(ctx, whole)).To(HavePrefix("True BundleAvailable: "))
		Eventually(cluster.whenAvailable).WithContext(ctx).WithArguments(whole).Should(BeNumerically(">", cluster.whenAvailable(member2)))
	}, onBoth(time.Minute))
})
