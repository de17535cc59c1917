package hub

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

// lose sets conditions as OCM's hub does when a cluster's lease stops: first on the cluster, then on all its add-ons.
func lose(cluster string, addOns ...string) {
	GinkgoHelper()
	reach(cluster, metav1.ConditionUnknown)
	for _, addOn := range addOns {
		report(cluster, addOn, metav1.ConditionUnknown, clusterLost)
	}
}

// reachAt sets Available of a ManagedCluster as the cluster does, with a clock that has an offset.
func reachAt(cluster string, status metav1.ConditionStatus, offset time.Duration) {
	GinkgoHelper()
	setStatus(cluster, func(managedClusterStatus *clusterv1.ManagedClusterStatus) {
		meta.RemoveStatusCondition(&managedClusterStatus.Conditions, clusterv1.ManagedClusterConditionAvailable)
		meta.SetStatusCondition(&managedClusterStatus.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Test", LastTransitionTime: metav1.NewTime(
				time.Now().Add(offset),
			),
		})
	})
}

var _ = Describe("A managed cluster that cannot be reached", func() {
	var manager *process
	var cluster, leaf, shaky, base string

	prepare := func(offline evaluation.OfflinePolicy) {
		manager = start(func(o *hub.Options) { o.Offline = offline })
		cluster = newCluster()
		leaf, shaky, base = unique("leaf"), unique("shaky"), unique("base")
		register(base)
		register(leaf, required(base))
		register(shaky, required("nowhere"))
		accept(cluster)
		installAvailable(cluster, base, leaf, shaky)
		Eventually(degradedOf(cluster, shaky)).Should(requiredFails())
		manager.rest()
	}

	It("has its verdicts held: nothing is written while all is Unknown", func() {
		prepare(evaluation.OfflineHold)
		lose(cluster, base, leaf, shaky)
		versionsBefore := must(versions(cluster))
		appliesBefore := applies()
		manager.rest()
		Consistently(versions(cluster)).Should(Equal(versionsBefore))
		Expect(applies() - appliesBefore).To(BeZero())
		Expect(must(manager.unsatisfied(shaky))).To(HaveExactElements(1.0), "the last verdict is still told")
		Expect(manager.series(metrics.NameHeld, "addon", shaky, "verdict", "NotInstalled")()).To(HaveExactElements(1.0))
		Expect(manager.series(metrics.NameHeld, "addon", leaf, "verdict", "Satisfied")()).To(HaveExactElements(1.0))
		Expect(manager.series(metrics.NameRoots, "addon", "nowhere")()).To(BeEmpty(), "nothing is known of it now")

		By("the cluster coming back before its add-ons report")
		reach(cluster, metav1.ConditionTrue)
		manager.rest()
		Consistently(versions(cluster)).Should(Equal(versionsBefore))

		By("its add-ons reporting as before")
		for _, addOn := range []string{base, leaf, shaky} {
			report(cluster, addOn, metav1.ConditionTrue, leaseFresh)
		}
		manager.rest()
		Expect(applies() - appliesBefore).To(BeZero())
	})

	It("has its verdicts held where the loss is observed on an add-on first, and by the hub's clock alone", func() {
		for _, clock := range []time.Duration{-6 * time.Minute, 24 * time.Hour} {
			prepare(evaluation.OfflineHold)
			By("the clock of the managed cluster being " + clock.String() + " off")
			reachAt(cluster, metav1.ConditionFalse, clock)
			reachAt(cluster, metav1.ConditionTrue, clock)
			manager.rest()
			appliesBefore := applies()
			report(cluster, base, metav1.ConditionUnknown, clusterLost)
			manager.rest()
			reach(cluster, metav1.ConditionUnknown)
			manager.rest()
			reachAt(cluster, metav1.ConditionTrue, clock)
			manager.rest()
			Expect(must(degradedOf(cluster, leaf))).To(BeNil())
			report(cluster, base, metav1.ConditionTrue, leaseFresh)
			manager.rest()
			Expect(applies() - appliesBefore).To(BeZero())
			manager.stop()
		}
	})

	It("gets the changed verdicts when it is back", func() {
		prepare(evaluation.OfflineHold)
		reach(cluster, metav1.ConditionUnknown)
		Eventually(func(g Gomega) { // the manager has to observe it before the next step
			installAvailable(cluster, "nowhere")
			manager.rest()
			g.Expect(must(degradedOf(cluster, shaky))).To(requiredFails())
		}).Should(Succeed())
		appliesBefore := applies()

		reach(cluster, metav1.ConditionTrue)
		Eventually(degradedOf(cluster, shaky)).Should(satisfied())
		manager.rest()
		Expect(applies()-appliesBefore).To(BeEquivalentTo(1), "only what differs")
	})

	It("is evaluated as usual when its ManagedCluster is removed", func() {
		prepare(evaluation.OfflineHold)
		reach(cluster, metav1.ConditionUnknown)
		manager.rest()
		report(cluster, base, metav1.ConditionFalse, leaseStale)
		manager.rest()
		Expect(must(degradedOf(cluster, leaf))).To(BeNil())

		object := &clusterv1.ManagedCluster{}
		Expect(hubClient.Get(ctx, types.NamespacedName{Name: cluster}, object)).To(Succeed())
		Expect(hubClient.Delete(ctx, object)).To(Succeed())
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
	})

	It("has nothing held without a ManagedCluster that could come back", func() {
		prepare(evaluation.OfflineHold)
		report(cluster, base, metav1.ConditionUnknown, clusterLost)
		manager.rest()
		Expect(must(degradedOf(cluster, leaf))).To(BeNil())

		object := &clusterv1.ManagedCluster{}
		Expect(hubClient.Get(ctx, types.NamespacedName{Name: cluster}, object)).To(Succeed())
		Expect(hubClient.Delete(ctx, object)).To(Succeed())
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("(Available=Unknown, " + clusterLost)))
	})

	It("is evaluated strictly with --offline=strict", func() {
		prepare(evaluation.OfflineStrict)
		lose(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring("(Available=Unknown, " + clusterLost)))
	})
})
