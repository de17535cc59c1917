//go:build e2e

package e2e

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	stormClusters = 8
	stormRounds   = 10
)

func describeStorm() {
	It("loses no change when the leader is deleted in the middle of a storm", func(ctx context.Context) {
		clusters := fleetOf(ctx, "storm", stormClusters)
		DeferCleanup(func(ctx context.Context) { dissolve(ctx, clusters) })
		first := leader(ctx)
		for round := range stormRounds {
			if round == stormRounds/2 {
				step("delete the leading pod %s", first)
				pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: first}}
				Expect(hub.Delete(ctx, pod, client.GracePeriodSeconds(0))).To(Succeed())
			}
			for i, cluster := range clusters {
				flip(ctx, cluster, (round+i)%2 == 0)
			}
		}
		step("look at where it ended")
		for i, cluster := range clusters {
			expectLeaf(ctx, cluster, (stormRounds-1+i)%2 == 0)
		}
		Expect(leader(ctx)).NotTo(Equal(first))
		Eventually(rolledOut(ctx, hub, namespace, addonManager)).Should(Succeed())
	})
}

// leader is the pod that leads.
func leader(ctx context.Context) string {
	GinkgoHelper()
	lease := &coordinationv1.Lease{}
	Eventually(func(g Gomega) {
		g.Expect(hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: addonManager}, lease)).To(Succeed())
		g.Expect(ptr.Deref(lease.Spec.HolderIdentity, "")).NotTo(BeEmpty())
	}).Should(Succeed())
	pod, _, _ := strings.Cut(*lease.Spec.HolderIdentity, "_")
	return pod
}
