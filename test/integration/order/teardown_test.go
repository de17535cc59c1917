package order

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

// holding is the finalizer of a component of the add-on itself.
const holding = "example.com/cleaning-up"

func (c managedCluster) remove(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(hub.Client.Delete(ctx, c.reference(name))).To(Succeed())
}

func (c managedCluster) isDeleted(ctx context.Context, name string) bool {
	_, err := c.addOn(ctx, name)
	return apierrors.IsNotFound(err)
}

// deletedOf returns the add-ons that no longer exist on the cluster.
func (c managedCluster) deletedOf(ctx context.Context, addOns []string) (deleted []string) {
	for _, name := range addOns {
		if c.isDeleted(ctx, name) {
			deleted = append(deleted, name)
		}
	}
	return deleted
}

func (c managedCluster) finalizers(ctx context.Context, name string) ([]string, error) {
	addOn, err := c.addOn(ctx, name)
	return addOn.Finalizers, err
}

// hold sets or removes a finalizer of another component than Interlock.
func (c managedCluster) hold(ctx context.Context, name string, holds bool) {
	GinkgoHelper()
	Eventually(func() error {
		addOn, err := c.addOn(ctx, name)
		if err != nil {
			return err
		}
		addOn.Finalizers = nil
		if holds {
			addOn.Finalizers = []string{holding}
		}
		return hub.Client.Update(ctx, addOn)
	}).WithContext(ctx).Should(Succeed())
}

var _ = Describe("The removal of add-ons", Ordered, func() {
	BeforeAll(lifecycleOn, NodeTimeout(time.Minute))

	for _, entry := range []struct {
		text    string
		cluster managedCluster
	}{{"with addon-agent", withAgent}, {"without addon-agent", withoutAgent}} {
		Describe(entry.text, Ordered, func() { removesInOrder(entry.cluster) })
	}

	It("does not wait where the namespace of the managed cluster is being deleted, too", func(ctx context.Context) {
		closing := managedCluster(managedCluster("namespace").uniqueName("closing")) // a second attempt needs another one
		ocmsuite.Accept(ctx, hub, string(closing), nil)
		base, leaf := closing.uniqueName("held-base"), closing.uniqueName("held-leaf")
		register(ctx, base, "", false)
		register(ctx, leaf, ordered(base), false)
		Eventually(closing.dryRunGate).WithContext(ctx).WithArguments(leaf).Should(Equal(closed))
		for _, name := range []string{base, leaf} {
			closing.install(ctx, name)
		}
		Expect(closing.finalizers(ctx, base)).To(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer))
		closing.hold(ctx, leaf, true)
		closing.remove(ctx, base)
		closing.remove(ctx, leaf)
		Eventually(closing.eventNotes).WithContext(ctx).WithArguments(base, "DeletionWaits").ShouldNot(BeEmpty())
		Expect(hub.Client.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: string(closing)}})).To(Succeed())
		Eventually(closing.isDeleted).WithContext(ctx).WithArguments(base).Should(BeTrue())
		Expect(closing.isDeleted(ctx, leaf)).To(BeFalse())
		closing.hold(ctx, leaf, false)
	}, NodeTimeout(time.Minute))

	It("does not wait where no addon-manager leads, with and without addon-agent", func(ctx context.Context) {
		Expect(manager.Stop(ctx)).To(Succeed())
		manager = nil
		for _, cluster := range []managedCluster{withAgent, withoutAgent} {
			base := cluster.uniqueName("held-base")
			cluster.install(ctx, base)
			Expect(cluster.finalizers(ctx, base)).NotTo(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer))
			cluster.remove(ctx, base)
			Eventually(cluster.isDeleted).WithContext(ctx).WithArguments(base).Should(BeTrue())
		}
	}, NodeTimeout(time.Minute))
})

// removesInOrder describes the removal of an add-on and of its dependent.
func removesInOrder(cluster managedCluster) {
	base, leaf := cluster.uniqueName("held-base"), cluster.uniqueName("held-leaf")

	BeforeAll(func(ctx context.Context) {
		register(ctx, base, "", true)
		register(ctx, leaf, ordered(base), true)
		Eventually(cluster.dryRunGate).WithContext(ctx).WithArguments(leaf).Should(Equal(closed))
		for _, name := range []string{base, leaf} {
			cluster.install(ctx, name)
			Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		}
		Expect(cluster.finalizers(ctx, base)).To(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer))
		Expect(cluster.finalizers(ctx, leaf)).NotTo(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer))
	}, NodeTimeout(time.Minute))

	It("is not permitted to addon-manager, which removes only its finalizer during a deletion", func(ctx context.Context) {
		userClient := setup.ClientAs(deployment.ManagerUser.Config, hub.Client)
		for _, patch := range []string{
			`[{"op": "remove", "path": "/metadata/finalizers"}]`, `[{"op": "add", "path": "/metadata/finalizers/-", "value": "a/b"}]`,
		} {
			err := userClient.Patch(ctx, cluster.reference(base), client.RawPatch(types.JSONPatchType, []byte(patch)))
			Expect(err).To(MatchError(ContainSubstring("remove its own finalizer")), patch)
		}
		Expect(userClient.Delete(ctx, cluster.reference(base))).
			To(MatchError(ContainSubstring("create or delete one with the label installed-by")))
	})

	It("takes dependents first", func(ctx context.Context) {
		cluster.hold(ctx, leaf, true)
		cluster.remove(ctx, base) // the worst order
		cluster.remove(ctx, leaf)
		Eventually(cluster.eventNotes).WithContext(ctx).WithArguments(base, "DeletionWaits").ShouldNot(BeEmpty())
		Consistently(cluster.isDeleted).WithContext(ctx).WithArguments(base).WithTimeout(4 * time.Second).Should(BeFalse())
		Expect(cluster.isDeployed(ctx, base)).To(BeTrue(), "what it deploys stays as well")
		cluster.hold(ctx, leaf, false)
		for _, name := range []string{leaf, base} {
			Eventually(cluster.isDeleted).WithContext(ctx).WithArguments(name).Should(BeTrue(), name)
			Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(name).Should(BeFalse(), name)
		}
	}, NodeTimeout(time.Minute))

	It("does not wait for add-ons that stay", func(ctx context.Context) {
		for _, name := range []string{base, leaf} {
			cluster.install(ctx, name)
			Eventually(cluster.isDeployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		}
		cluster.remove(ctx, base)
		Eventually(cluster.isDeleted).WithContext(ctx).WithArguments(base).Should(BeTrue())
		Expect(cluster.isDeleted(ctx, leaf)).To(BeFalse())
		cluster.remove(ctx, leaf)
		Eventually(cluster.isDeleted).WithContext(ctx).WithArguments(leaf).Should(BeTrue())
	}, NodeTimeout(time.Minute))
}
