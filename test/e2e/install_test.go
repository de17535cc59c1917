//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func describeInstallation() {
	It("runs two ready replicas of addon-manager and of its webhook", func(ctx context.Context) {
		for _, name := range []string{addonManager, webhook} {
			Eventually(rolledOut(ctx, hub, namespace, name)).Should(Succeed())
			deployment := &appsv1.Deployment{}
			Expect(hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment)).To(Succeed())
			Expect(deployment.Status.ReadyReplicas).To(BeEquivalentTo(2))
		}
	})

	It("has OCM install the agent on each managed cluster, and report it as available", func(ctx context.Context) {
		for name, cluster := range managedClusters {
			Eventually(rolledOut(ctx, cluster.client, agentNamespace, agentWorkload)).Should(Succeed(), name)
			key := types.NamespacedName{Namespace: name, Name: agent}
			Eventually(conditionOf(ctx, key, available)).Should(be(metav1.ConditionTrue, probed), name)
		}
	})
}
