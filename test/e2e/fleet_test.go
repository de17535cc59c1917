//go:build e2e

package e2e

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// inNamespace makes the namespace, if it is not there yet.
func inNamespace(ctx context.Context, namespace, name string) types.NamespacedName {
	GinkgoHelper()
	Expect(client.IgnoreAlreadyExists(hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))).To(Succeed())
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// say writes a condition as stock controllers do: the whole list in a merge
// patch, with the version that it was read in.
func say(ctx context.Context, key types.NamespacedName, condition metav1.Condition) {
	GinkgoHelper()
	Eventually(func() error {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		if err := hub.Get(ctx, key, addOn); err != nil {
			return err
		}
		meta.SetStatusCondition(&addOn.Status.Conditions, condition)
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": addOn.ResourceVersion},
			"status":   map[string]any{"conditions": addOn.Status.Conditions},
		})
		Expect(err).NotTo(HaveOccurred())
		return hub.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("registration-agent"))
	}).Should(Succeed())
}
