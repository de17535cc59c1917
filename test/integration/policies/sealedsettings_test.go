package policies

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// sealedSettings creates an AddOnDeploymentConfig in which Interlock seals a variable.
func sealedSettings(ctx context.Context, name string) *unstructured.Unstructured {
	GinkgoHelper()
	config := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"customizedVariables": []any{map[string]any{"name": "mode", "value": "grpc"}},
	}}}
	config.SetAPIVersion(group + "/v1alpha1")
	config.SetKind("AddOnDeploymentConfig")
	config.SetNamespace("cluster1")
	config.SetName(name)
	config.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "interlock-addon-manager"})
	config.SetAnnotations(map[string]string{
		"dependency.addon.open-cluster-management.io/settings": `{"variables":{"mode":"grpc"},"sealed":["mode"]}`,
	})
	config.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: group + "/v1alpha1", Kind: "ManagedClusterAddOn", Name: strings.TrimPrefix(name, "interlock-"), UID: "uid",
	}})
	Expect(admin.Create(ctx, config)).To(Succeed())
	return config
}

// With the chart's value protection=enforce, the binding denies.
var _ = Describe("Sealed settings, where protection is enforced", func() {
	const change = `{"spec":{"customizedVariables":[{"name":"mode","value":"http"}]}}`
	BeforeEach(func(ctx context.Context) {
		binding := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"policyName": "interlock-sealed-settings", "validationActions": []any{"Deny"},
		}}}
		binding.SetAPIVersion("admissionregistration.k8s.io/v1")
		binding.SetKind("ValidatingAdmissionPolicyBinding")
		binding.SetName("sealed-settings-denied")
		Expect(admin.Create(ctx, binding)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(admin.Delete(ctx, binding)).To(Succeed()) })
		probe := sealedSettings(ctx, "interlock-probe")
		DeferCleanup(func(ctx context.Context) { Expect(admin.Delete(ctx, probe)).To(Succeed()) })
		Eventually(func() error { return admin.Patch(ctx, probe.DeepCopy(), merge(change), client.DryRunAll) }).
			Should(Satisfy(apierrors.IsInvalid))
	})

	It("are changed by addon-manager, and by others with a reason only", func(ctx context.Context) {
		config := sealedSettings(ctx, "interlock-base")
		Expect(admin.Patch(ctx, config.DeepCopy(), merge(change))).To(Satisfy(apierrors.IsInvalid))
		Expect(admin.Patch(ctx, config.DeepCopy(), merge(`{"metadata":{"labels":{"mine":"1"}}}`))).To(Succeed())
		Expect(clientOf(manager).Patch(ctx, config.DeepCopy(), merge(change))).To(Succeed())
		Expect(admin.Patch(ctx, config.DeepCopy(), merge(`{"spec":{"customizedVariables":[{"name":"mode","value":"x"}]},`+
			`"metadata":{"annotations":{"dependency.addon.open-cluster-management.io/force":"mirrored by hand"}}}`))).To(Succeed())
	})
})
