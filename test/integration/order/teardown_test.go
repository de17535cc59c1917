package order

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
)

// holding is the finalizer of a component of the add-on itself.
const holding = "example.com/cleaning-up"

func (on managedCluster) remove(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(hub.Client.Delete(ctx, on.reference(name))).To(Succeed())
}

func (on managedCluster) gone(ctx context.Context, name string) bool {
	_, err := on.addOn(ctx, name)
	return apierrors.IsNotFound(err)
}

// absent are those of these add-ons that are gone.
func (on managedCluster) absent(ctx context.Context, addOns []string) (absent []string) {
	for _, name := range addOns {
		if on.gone(ctx, name) {
			absent = append(absent, name)
		}
	}
	return absent
}

func (on managedCluster) finalizers(ctx context.Context, name string) ([]string, error) {
	found, err := on.addOn(ctx, name)
	return found.Finalizers, err
}

// hold sets whether the add-on has a finalizer that is not Interlock's.
func (on managedCluster) hold(ctx context.Context, name string, holds bool) {
	GinkgoHelper()
	Eventually(func() error {
		found, err := on.addOn(ctx, name)
		if err != nil {
			return err
		}
		found.Finalizers = nil
		if holds {
			found.Finalizers = []string{holding}
		}
		return hub.Client.Update(ctx, found)
	}).WithContext(ctx).Should(Succeed())
}

var _ = Describe("The removal of add-ons", Ordered, func() {
	BeforeAll(lifecycleOn, NodeTimeout(time.Minute))

	for _, entry := range []struct {
		text string
		on   managedCluster
	}{{"with addon-agent", withAgent}, {"without addon-agent", withoutAgent}} {
		Describe(entry.text, Ordered, func() { removesInOrder(entry.on) })
	}

	It("is as ever where no addon-manager leads, with and without addon-agent", func(ctx context.Context) {
		Expect(manager.Stop(ctx)).To(Succeed())
		manager = nil
		for _, on := range []managedCluster{withAgent, withoutAgent} {
			base := on.named("held-base")
			on.install(ctx, base)
			Expect(on.finalizers(ctx, base)).NotTo(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer))
			on.remove(ctx, base)
			Eventually(on.gone).WithContext(ctx).WithArguments(base).Should(BeTrue())
		}
	}, NodeTimeout(time.Minute))
})

// removesInOrder describes the removal of an add-on, and of one that requires it.
func removesInOrder(on managedCluster) {
	base, leaf := on.named("held-base"), on.named("held-leaf")

	BeforeAll(func(ctx context.Context) {
		register(ctx, base, "", true)
		register(ctx, leaf, ordered(base), true)
		Eventually(on.dryRunGate).WithContext(ctx).WithArguments(leaf).Should(Equal(closed))
		for _, name := range []string{base, leaf} {
			on.install(ctx, name)
			Eventually(on.deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		}
		Expect(on.finalizers(ctx, base)).To(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer))
		Expect(on.finalizers(ctx, leaf)).NotTo(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer))
	}, NodeTimeout(time.Minute))

	It("is not up to addon-manager, but for its finalizer of what is being deleted", func(ctx context.Context) {
		as := setup.ClientAs(interlocked.ManagerUser.Config, hub.Client)
		for _, patch := range []string{
			`[{"op": "remove", "path": "/metadata/finalizers"}]`, `[{"op": "add", "path": "/metadata/finalizers/-", "value": "a/b"}]`,
		} {
			err := as.Patch(ctx, on.reference(base), client.RawPatch(types.JSONPatchType, []byte(patch)))
			Expect(err).To(MatchError(ContainSubstring("remove its own finalizer")), patch)
		}
		Expect(as.Delete(ctx, on.reference(base))).To(MatchError(ContainSubstring("create or delete one with the label installed-by")))
	})

	It("takes dependents first", func(ctx context.Context) {
		on.hold(ctx, leaf, true)
		on.remove(ctx, base) // the worst order
		on.remove(ctx, leaf)
		Eventually(on.emitted).WithContext(ctx).WithArguments(base, "DeletionWaits").ShouldNot(BeEmpty())
		Consistently(on.gone).WithContext(ctx).WithArguments(base).WithTimeout(4 * time.Second).Should(BeFalse())
		Expect(on.deployed(ctx, base)).To(BeTrue(), "what it deploys stays as well")
		on.hold(ctx, leaf, false)
		for _, name := range []string{leaf, base} {
			Eventually(on.gone).WithContext(ctx).WithArguments(name).Should(BeTrue(), name)
			Eventually(on.deployed).WithContext(ctx).WithArguments(name).Should(BeFalse(), name)
		}
	}, NodeTimeout(time.Minute))

	It("does not wait for what stays", func(ctx context.Context) {
		for _, name := range []string{base, leaf} {
			on.install(ctx, name)
			Eventually(on.deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		}
		on.remove(ctx, base)
		Eventually(on.gone).WithContext(ctx).WithArguments(base).Should(BeTrue())
		Expect(on.gone(ctx, leaf)).To(BeFalse())
		on.remove(ctx, leaf)
		Eventually(on.gone).WithContext(ctx).WithArguments(leaf).Should(BeTrue())
	}, NodeTimeout(time.Minute))
}
