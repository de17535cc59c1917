package order

import (
	"bytes"
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/test/witness"
)

// bundled registers an add-on without an agent.
func bundled(ctx context.Context, name, declares string) {
	GinkgoHelper()
	bundle := registration(name, declares)
	bundle.Annotations[interlockv1alpha1.BundleAnnotation] = "true"
	Expect(hub.Client.Create(ctx, bundle)).To(Succeed())
}

func availableOf(ctx context.Context, name string) (string, error) {
	return condition(ctx, name, "Available")
}

func expectRemoved(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(
		hub.Client.Delete(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}),
	).To(Succeed())
	Eventually(func() error {
		_, err := addOn(ctx, name)
		return err
	}).WithContext(ctx).Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
}

var _ = Describe("A bundle", Ordered, func() {
	BeforeAll(lifecycleOn, NodeTimeout(time.Minute))

	It("is available where all that it requires is, and no writer changes what another one has set", func(ctx context.Context) {
		register(ctx, "member-1", "", true)
		register(ctx, "member-2", "", true)
		bundled(ctx, "stack", unordered("member-1", "member-2"))
		register(ctx, "on-stack", ordered("stack"), true)
		Eventually(dryRunGate).WithContext(ctx).WithArguments("on-stack").Should(Equal(closed))
		for _, name := range []string{"stack", "member-1", "on-stack"} {
			install(ctx, name)
		}
		Eventually(availableOf).WithContext(ctx).WithArguments("stack").Should(
			HavePrefix("False RequiredDependencyNotSatisfied: Required addon 'member-2' is not installed"))
		Expect(deployed(ctx, "on-stack")).To(BeFalse())

		install(ctx, "member-2")
		Eventually(availableOf).WithContext(ctx).WithArguments("stack").Should(HavePrefix("True BundleAvailable: "))
		Eventually(whenMade).WithContext(ctx).WithArguments("on-stack").Should(BeNumerically(">", whenAvailable("stack")))
		Expect(deployed(ctx, "stack")).To(BeFalse())
		Eventually(availableOf).WithContext(ctx).WithArguments("on-stack").Should(HavePrefix("True"))

		By("nothing being written while OCM's agent looks for leases")
		w, err := witness.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog})
		Expect(err).NotTo(HaveOccurred())
		defer w.Stop()
		Expect(w.Settle(ctx, 3*time.Second)).To(Succeed())
		counts, err := w.Quiet(ctx, quiet)
		Expect(err).NotTo(HaveOccurred())
		for _, row := range counts.Rows {
			Expect(row.Object.String()).NotTo(HaveSuffix("/stack"), counts.String())
		}

		By("a member going")
		expectRemoved(ctx, "member-1")
		Eventually(
			availableOf,
		).WithContext(ctx).
			WithArguments("stack").
			Should(HavePrefix("False RequiredDependencyNotSatisfied: Required addon 'member-1'"))
		install(ctx, "member-1")
		Eventually(availableOf).WithContext(ctx).WithArguments("stack").Should(HavePrefix("True BundleAvailable: "))

		By("the add-on being no bundle any more")
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:null}}}`, interlockv1alpha1.BundleAnnotation)
		Expect(hub.Client.Patch(ctx, registration("stack", ""), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
		Eventually(availableOf).WithContext(ctx).WithTimeout(time.Minute).WithArguments("stack").Should(
			HavePrefix("Unknown ManagedClusterAddOnLeaseNotFound"), "OCM's agent looks for leases every 30 seconds")
		expectRemoved(ctx, "stack")
	}, NodeTimeout(2*time.Minute))

	It("is installed by the plugin with all that it requires", func(ctx context.Context) {
		register(ctx, "whole-1", "", true)
		register(ctx, "whole-2", unordered("whole-1"), true)
		bundled(ctx, "whole", unordered("whole-1", "whole-2"))
		var out bytes.Buffer
		command := cli.NewCommand(genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out})
		command.SetArgs(
			[]string{"install", "whole", "--cluster", cluster, "--yes", "--wait", "--timeout", "30s", "--kubeconfig", hub.Kubeconfig()},
		)
		Expect(cmdline.Run(ctx, command, &out)).To(Equal(cmdline.ExitOK), out.String)
		Expect(availableOf(ctx, "whole")).To(HavePrefix("True BundleAvailable: "))
		Eventually(whenAvailable).WithContext(ctx).WithArguments("whole").Should(BeNumerically(">", whenAvailable("whole-2")))
	}, NodeTimeout(time.Minute))
})
