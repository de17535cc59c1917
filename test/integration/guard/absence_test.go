package guard

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// absence tests conditions that were written without the guard.
func absence(f *form) {
	It("corrects with the next write a condition that was written before it was installed", func(ctx context.Context) {
		a := f.newAddOn(ctx)
		a.write(ctx, viaStorage, withConditions(availableTrue(), fails(missingBase)))
		f.arrive(ctx)
		Expect(find(a.get(ctx, viaStorage), "Available")).To(Equal(availableTrue()), "it acts on writes only")
		Expect(find(a.write(ctx, viaBeta, setCondition(progressing())), "Available")).To(Equal(guarded(earlyTime)))
	})

	It("is replaced by addon-agent while it is removed; without addon-agent, its next write corrects", func(ctx context.Context) {
		attended, unattended := f.newAddOn(ctx), f.newAddOn(ctx)
		addOns := []addOn{attended, unattended}
		f.arrive(ctx)
		f.manage(ctx, "")
		f.register(ctx)
		for _, a := range addOns {
			a.awaitFailure(ctx)
			a.write(ctx, viaBeta, setCondition(availableTrue()))
			Expect(a.availability(ctx)()).To(Equal(required))
		}
		f.leave(ctx)
		for _, a := range addOns {
			Expect(find(a.write(ctx, viaBeta, setCondition(availableTrue())), "Available")).To(Equal(availableTrue()))
		}
		Consistently(attended.availability(ctx)).ShouldNot(Equal(required), "nothing corrects it")

		By("addon-agent starting, and running on when the guard is back")
		attended.attend()
		Eventually(attended.availability(ctx)).Should(Equal(required))
		f.arrive(ctx)
		attended.write(ctx, viaBeta, setCondition(availableTrue()))
		Expect(attended.availability(ctx)()).To(Equal(required))

		By("the next write of any writer, where addon-agent does not run")
		Expect(unattended.availability(ctx)()).NotTo(Equal(required))
		Expect(find(unattended.write(ctx, viaBeta, setCondition(progressing())), "Available")["reason"]).To(Equal(required))
	})
}

func progressing() map[string]any {
	return entry("Progressing", "True", "Installing", "wait", earlyTime)
}

// register declares a Required dependency that is missing, for the add-on of that name on all clusters of the hub, until addon-manager
// has stopped.
func (f *form) register(ctx context.Context) {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
	registration.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	registration.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "base"}}
	Expect(f.client.Create(ctx, registration)).To(Succeed())
}

// unregister deletes the objects that register creates, if they exist.
func (f *form) unregister(ctx context.Context) error {
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
	return client.IgnoreNotFound(f.client.Delete(ctx, registration))
}

// awaitFailure waits until addon-manager has reported that the dependency is missing.
func (a addOn) awaitFailure(ctx context.Context) {
	GinkgoHelper()
	Eventually(func() any { return find(a.get(ctx, viaStorage), "Degraded")["reason"] }).Should(Equal(required))
}

func (a addOn) availability(ctx context.Context) func() any {
	return func() any { return find(a.get(ctx, viaStorage), "Available")["reason"] }
}
