//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// watcher depends on addon-agent, so that there is a satisfied verdict on cluster2. At first it also depends on a
// missing add-on, because addon-manager writes no condition if all dependencies were satisfied from the start.
const watcher = "watcher"

func describeStoppedCluster() {
	It("holds the verdicts of a managed cluster whose node is stopped, and goes on when it is started", func(ctx context.Context) {
		stop, start := os.Getenv("MANAGED2_STOP_COMMAND"), os.Getenv("MANAGED2_START_COMMAND")
		if stop == "" || start == "" {
			Skip("MANAGED2_STOP_COMMAND and MANAGED2_START_COMMAND are not set: only kind has a second managed cluster")
		}
		onCluster2 := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: cluster2, Name: name} }
		register(ctx, watcher, agent, "missing")
		install(ctx, onCluster2(watcher))
		DeferCleanup(func(ctx context.Context) {
			uninstall(ctx, onCluster2(watcher))
			remove(ctx, hub, []client.Object{&addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: watcher}}})
		})
		Eventually(conditionOf(ctx, onCluster2(watcher), degraded)).Should(be(metav1.ConditionTrue, required))
		onAgent := fmt.Appendf(nil, `{"spec":{"dependencies":[{"name":%q}]}}`, agent)
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: watcher}}
		Expect(hub.Patch(ctx, registration, client.RawPatch(types.MergePatchType, onAgent))).To(Succeed())
		Eventually(conditionOf(ctx, onCluster2(watcher), degraded)).Should(be(metav1.ConditionFalse, satisfied))
		Eventually(conditionOf(ctx, onCluster2(report), degraded)).
			Should(be(metav1.ConditionTrue, required), "managed-serviceaccount is on cluster1 only")
		recorded := []func() []*metav1.Condition{
			recordDegraded(ctx, onCluster2(watcher)), recordDegraded(ctx, onCluster2(report)), recordDegraded(ctx, onCluster1(report)),
		}

		By("stopping the node")
		shell(ctx, stop)
		DeferCleanup(shell, start)
		expectLost(ctx, cluster2)
		Expect(clusterAvailable(ctx, cluster1)()).To(Equal(metav1.ConditionTrue))

		By("starting it")
		shell(ctx, start)
		Eventually(clusterAvailable(ctx, cluster2)).WithTimeout(discovery).Should(Equal(metav1.ConditionTrue))
		Eventually(conditionOf(ctx, onCluster2(agent), available)).WithTimeout(discovery).Should(be(metav1.ConditionTrue, probed))
		Expect(recorded[0]()).To(HaveEach(be(metav1.ConditionFalse, satisfied)), "of watcher on cluster2")
		Expect(recorded[1]()).To(HaveEach(be(metav1.ConditionTrue, required)), "of the report on cluster2")
		Expect(recorded[2]()).To(HaveEach(be(metav1.ConditionFalse, satisfied)), "of the report on cluster1")

		By("installing what the report depends on")
		install(ctx, onCluster2(account))
		Eventually(conditionOf(ctx, onCluster2(account), available)).WithTimeout(repair).Should(be(metav1.ConditionTrue, renewed))
		Eventually(conditionOf(ctx, onCluster2(report), degraded)).Should(be(metav1.ConditionFalse, satisfied))
		Eventually(conditionOf(ctx, onCluster2(report), available)).WithTimeout(repair).Should(be(metav1.ConditionTrue, renewed))
	})
}
