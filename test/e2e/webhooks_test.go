//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const registrationsCRD = "clustermanagementaddons.addon.open-cluster-management.io"

// expectGrafted expects the CRD to have Interlock's conversion, and therefore its fields.
func expectGrafted(ctx context.Context) func(Gomega) {
	return func(g Gomega) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		g.Expect(hub.Get(ctx, client.ObjectKey{Name: registrationsCRD}, crd)).To(Succeed())
		g.Expect(crd.Spec.Conversion.Webhook.ClientConfig.Service).To(HaveField("Name", webhook))
	}
}

func describeWebhooks() {
	It("denies a registration that depends on itself, and says why", func(ctx context.Context) {
		Eventually(denied).WithContext(ctx).Should(Succeed())
	})

	It("grafts the field onto OCM's CRD, and keeps it through writes of clients that do not know it", func(ctx context.Context) {
		Eventually(expectGrafted(ctx)).Should(Succeed())
		register(ctx, "dependent", "dependency")
		older := &addonv1alpha1.ClusterManagementAddOn{}
		Expect(hub.Get(ctx, client.ObjectKey{Name: "dependent"}, older)).To(Succeed())
		Expect(older.Spec.Dependencies).To(HaveLen(1))

		newer := &ocmv1beta1.ClusterManagementAddOn{}
		Expect(hub.Get(ctx, client.ObjectKey{Name: "dependent"}, newer)).To(Succeed())
		before := newer.DeepCopy()
		newer.Labels = map[string]string{"written": "through-v1beta1"}
		Expect(hub.Patch(ctx, newer, client.MergeFrom(before))).To(Succeed())
		Expect(hub.Status().Patch(ctx, newer, client.RawPatch("application/merge-patch+json", []byte(`{"status":{}}`)))).To(Succeed())
		Expect(hub.Get(ctx, client.ObjectKey{Name: "dependent"}, older)).To(Succeed())
		Expect(older.Labels).To(HaveKeyWithValue("written", "through-v1beta1"))
		Expect(older.Spec.Dependencies).
			To(Equal([]addonv1alpha1.AddonDependency{{Name: "dependency", Type: addonv1alpha1.DependencyTypeRequired}}))
	})

	It("holds Available to what Degraded says, whoever writes it", func(ctx context.Context) {
		expectGuarded(ctx)
	})
}
