package order

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
)

// holding is the finalizer of a component of the add-on itself.
const holding = "example.com/cleaning-up"

func remove(ctx context.Context, name string) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	Expect(hub.Client.Delete(ctx, addOn)).To(Succeed())
}

func gone(ctx context.Context, name string) bool {
	_, err := addOn(ctx, name)
	return apierrors.IsNotFound(err)
}

// absent are those of these add-ons that are gone.
func absent[T any](ctx context.Context, of map[string]T) (names []string) {
	for name := range of {
		if gone(ctx, name) {
			names = append(names, name)
		}
	}
	return names
}

func finalizers(ctx context.Context, name string) ([]string, error) {
	found, err := addOn(ctx, name)
	return found.Finalizers, err
}

// hold sets whether the add-on has a finalizer that is not Interlock's.
func hold(ctx context.Context, name string, holds bool) {
	GinkgoHelper()
	Eventually(func() error {
		found, err := addOn(ctx, name)
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
	BeforeAll(func(ctx context.Context) {
		Expect(webhook.Stop(ctx)).To(Succeed()) // another spec may have turned the lifecycle off
		serve("--lifecycle")
		manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
		register(ctx, "held-base", "", true)
		register(ctx, "held-leaf", ordered("held-base"), true)
		Eventually(dryRunGate).WithContext(ctx).WithArguments("held-leaf").Should(Equal(closed))
		for _, name := range []string{"held-base", "held-leaf"} {
			install(ctx, name)
			Eventually(deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		}
		Expect(finalizers(ctx, "held-base")).To(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer))
		Expect(finalizers(ctx, "held-leaf")).NotTo(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer))
	}, NodeTimeout(time.Minute))

	It("is not up to addon-manager, but for its finalizer of what is being deleted", func(ctx context.Context) {
		as := setup.As(interlocked.ManagerUser.Config, hub.Client)
		base := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "held-base"}}
		for _, patch := range []string{
			`[{"op": "remove", "path": "/metadata/finalizers"}]`, `[{"op": "add", "path": "/metadata/finalizers/-", "value": "a/b"}]`,
		} {
			err := as.Patch(ctx, base, client.RawPatch(types.JSONPatchType, []byte(patch)))
			Expect(err).To(MatchError(ContainSubstring("remove its own finalizer")), patch)
		}
		Expect(as.Delete(ctx, base)).To(MatchError(ContainSubstring("create or delete one with the label installed-by")))
	})

	It("takes dependents first", func(ctx context.Context) {
		hold(ctx, "held-leaf", true)
		remove(ctx, "held-base") // the worst order
		remove(ctx, "held-leaf")
		Eventually(emitted).WithContext(ctx).WithArguments("held-base", "DeletionWaits").ShouldNot(BeEmpty())
		Consistently(gone).WithContext(ctx).WithArguments("held-base").WithTimeout(4 * time.Second).Should(BeFalse())
		Expect(deployed(ctx, "held-base")).To(BeTrue(), "what it deploys stays as well")
		hold(ctx, "held-leaf", false)
		for _, name := range []string{"held-leaf", "held-base"} {
			Eventually(gone).WithContext(ctx).WithArguments(name).Should(BeTrue(), name)
			Eventually(deployed).WithContext(ctx).WithArguments(name).Should(BeFalse(), name)
		}
	}, NodeTimeout(time.Minute))

	It("does not wait for what stays", func(ctx context.Context) {
		for _, name := range []string{"held-base", "held-leaf"} {
			install(ctx, name)
			Eventually(deployed).WithContext(ctx).WithArguments(name).Should(BeTrue())
		}
		remove(ctx, "held-base")
		Eventually(gone).WithContext(ctx).WithArguments("held-base").Should(BeTrue())
		Expect(gone(ctx, "held-leaf")).To(BeFalse())
		remove(ctx, "held-leaf")
		Eventually(gone).WithContext(ctx).WithArguments("held-leaf").Should(BeTrue())
	}, NodeTimeout(time.Minute))

	It("is as ever where no addon-manager leads", func(ctx context.Context) {
		Expect(manager.Stop(ctx)).To(Succeed())
		manager = nil
		install(ctx, "held-base")
		Expect(finalizers(ctx, "held-base")).NotTo(ContainElement(interlockv1alpha1.WaitForDependentsFinalizer))
		remove(ctx, "held-base")
		Eventually(gone).WithContext(ctx).WithArguments("held-base").Should(BeTrue())
	}, NodeTimeout(time.Minute))
})
