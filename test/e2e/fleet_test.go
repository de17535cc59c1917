//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Clusters of which there is nothing but a namespace: nobody reports on their
// add-ons but the suite.
const (
	base = "storm-base"
	leaf = "storm-leaf" // requires base
)

// inNamespace makes the namespace, if it is not there yet.
func inNamespace(ctx context.Context, namespace, name string) types.NamespacedName {
	GinkgoHelper()
	Expect(client.IgnoreAlreadyExists(hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))).To(Succeed())
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// fleetOf are n clusters with base and leaf on each, base available.
func fleetOf(ctx context.Context, prefix string, n int) []string {
	GinkgoHelper()
	register(ctx, base)
	register(ctx, leaf, base)
	var clusters []string
	for i := range n {
		cluster := fmt.Sprintf("%s-%d", prefix, i)
		clusters = append(clusters, cluster)
		for _, name := range []string{base, leaf} {
			install(ctx, inNamespace(ctx, cluster, name))
		}
	}
	for _, cluster := range clusters {
		expectLeaf(ctx, cluster, false)
		flip(ctx, cluster, true)
	}
	for _, cluster := range clusters {
		expectLeaf(ctx, cluster, true)
	}
	return clusters
}

func expectLeaf(ctx context.Context, cluster string, well bool) {
	GinkgoHelper()
	key := types.NamespacedName{Namespace: cluster, Name: leaf}
	if well {
		Eventually(conditionOf(ctx, key, degraded)).Should(be(metav1.ConditionFalse, satisfied), cluster)
		return
	}
	Eventually(conditionOf(ctx, key, degraded)).Should(be(metav1.ConditionTrue, required), cluster)
}

// flip says whether base is available on the cluster.
func flip(ctx context.Context, cluster string, to bool) {
	GinkgoHelper()
	condition := metav1.Condition{Type: available, Status: metav1.ConditionFalse, Reason: "Broken"}
	if to {
		condition.Status, condition.Reason = metav1.ConditionTrue, "Working"
	}
	say(ctx, types.NamespacedName{Namespace: cluster, Name: base}, condition)
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

func dissolve(ctx context.Context, clusters []string) {
	GinkgoHelper()
	for _, cluster := range clusters {
		for _, name := range []string{base, leaf} {
			uninstall(ctx, types.NamespacedName{Namespace: cluster, Name: name})
		}
		Expect(hub.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster}})).To(Succeed())
	}
}
