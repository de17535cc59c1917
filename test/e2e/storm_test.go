//go:build e2e

package e2e

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const stormClusters = 50

func describeStorm() {
	It("loses no change, and tells of none that was not, when the leader is deleted in the middle of a storm", func(ctx context.Context) {
		storm := newFleet(ctx, "storm", stormClusters)
		DeferCleanup(storm.dissolve)
		first := leader(ctx)
		w := startWitness(ctx)

		By("a dependency going up and down on all clusters")
		calm := storm.keepFlipping(ctx, time.Millisecond)
		Eventually(w.answers).Should(BeNumerically(">=", 2*stormClusters))
		By("deleting the leading pod " + first)
		Expect(hub.Delete(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: first}})).To(Succeed())
		Eventually(leader).WithContext(ctx).ShouldNot(Equal(first))
		until := w.answers() + 2*stormClusters
		Eventually(w.answers).Should(BeNumerically(">=", until), "the next one goes on")
		flips := calm()

		By("looking at where it ended")
		storm.settle(ctx)
		for _, healthy := range []bool{false, true} {
			storm.flipAll(ctx, healthy)
			storm.settle(ctx)
		}
		w.stop(ctx)
		AddReportEntry("storm", ReportEntryVisibilityAlways, stormReport{flips, w.answers()})
		w.expectExplained(ctx, storm)
		Expect(leader(ctx)).NotTo(Equal(first))
		Eventually(rolledOut(ctx, hub, namespace, addonManager)).Should(Succeed())
	})
}

// stormReport is printed with the spec.
type stormReport struct{ FlipsOfBase, WritesOfLeaf int }

// leader returns the name of the leading pod.
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
