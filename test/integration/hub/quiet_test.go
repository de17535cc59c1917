package hub

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

var _ = Describe("A fleet on which nothing changes", Ordered, func() {
	const size = 25
	var manager *process
	var clusters []string
	var leaf, middle, base string

	state := func() map[string]map[string]string {
		GinkgoHelper()
		byCluster := map[string]map[string]string{}
		for _, cluster := range clusters {
			byCluster[cluster] = must(versions(cluster))
		}
		return byCluster
	}

	BeforeAll(func() {
		manager = start()
		leaf, middle, base = unique("leaf"), unique("middle"), unique("base")
		register(base)
		register(middle, required(base))
		register(leaf, required(middle), optional("nowhere"))
		for i := range size {
			cluster := newCluster()
			clusters = append(clusters, cluster)
			installAvailable(cluster, base, middle, leaf)
			if i%5 == 0 {
				report(cluster, base, metav1.ConditionFalse, leaseStale)
			}
		}
		manager.rest()
	})

	It("is not written at all, counted at the API server", func() {
		writesBefore, stateBefore, evaluationsBefore := writes(), state(), manager.evaluations()
		Consistently(writes, 4*time.Second, 200*time.Millisecond).Should(Equal(writesBefore))
		Expect(state()).To(Equal(stateBefore))
		Expect(manager.evaluations()).To(Equal(evaluationsBefore))
	})

	It("is not evaluated when a stock writer repeats itself or changes other fields", func() {
		evaluationsBefore := manager.evaluations()
		report(clusters[1], base, metav1.ConditionTrue, leaseFresh)
		Expect(setAsOCM(clusters[1], base, metav1.Condition{
			Type: "Progressing", Status: metav1.ConditionFalse, Reason: "Completed", Message: "as tested",
		})).To(Succeed())
		Consistently(manager.evaluations).Should(Equal(evaluationsBefore))
	})

	It("gets one write for each add-on that a change breaks, only on the changed cluster", func() {
		appliesBefore, evaluationsBefore := applies(), manager.evaluations()
		report(clusters[1], base, metav1.ConditionFalse, leaseStale)
		Eventually(degradedOf(clusters[1], middle)).Should(requiredFails())
		Eventually(degradedOf(clusters[1], leaf)).Should(requiredFails(ContainSubstring("(a Required dependency of its own is not satisfied)")))
		manager.rest()
		Expect(applies() - appliesBefore).To(BeEquivalentTo(2))
		Expect(manager.evaluations()-evaluationsBefore).To(BeNumerically("<=", 4), "each of the two, and again for its own write")
	})

	It("counts unsatisfied dependencies by clusters", func() {
		Expect(must(manager.unsatisfied(middle, "dependency", base, "type", "Required", "verdict", "NotAvailable"))).
			To(HaveExactElements(BeEquivalentTo(size/5 + 1)))
		Expect(must(manager.unsatisfied(leaf, "dependency", "nowhere", "type", "Optional", "verdict", "NotInstalled"))).
			To(HaveExactElements(BeEquivalentTo(size)))
	})

	It("is not written by an addon-manager that restarts", func() {
		manager.stop()
		writesBefore, stateBefore := writes(), state()
		manager2 := start()
		Eventually(manager2.evaluations).Should(BeNumerically(">=", 3*size))
		manager2.rest()
		Expect(writes()).To(Equal(writesBefore))
		Expect(state()).To(Equal(stateBefore))
	})
})

var _ = Describe("A dependency that goes up and down", func() {
	It("moves lastTransitionTime only with the status, and emits events only for transitions", func() {
		manager := start()
		cluster, leaf, base, alternative := newCluster(), unique("leaf"), unique("base"), unique("other")
		register(leaf, required(base), optional(alternative))
		install(cluster, leaf)
		Eventually(degradedOf(cluster, leaf)).Should(requiredFails(ContainSubstring(alternative)))
		uid := readAddOn(cluster, leaf).UID
		transition := func() metav1.Time { return must(degradedOf(cluster, leaf)).LastTransitionTime }
		transition1 := transition()
		nextSecond := func(moment metav1.Time) { // the API keeps seconds
			Eventually(time.Now).Should(BeTemporally(">=", moment.Add(time.Second)))
		}

		By("another message, and another reason, with the same status")
		nextSecond(transition1)
		installAvailable(cluster, base)
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails())
		Expect(transition()).To(Equal(transition1))
		install(cluster, alternative)
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails(ContainSubstring("being installed since ")))
		Expect(transition()).To(Equal(transition1))

		By("another status")
		report(cluster, alternative, metav1.ConditionTrue, leaseFresh)
		Eventually(degradedOf(cluster, leaf)).Should(satisfied())
		Expect(transition().After(transition1.Time)).To(BeTrue())
		transition2 := transition()
		nextSecond(transition2)
		report(cluster, alternative, metav1.ConditionFalse, leaseStale)
		Eventually(degradedOf(cluster, leaf)).Should(optionalFails())
		Expect(transition().After(transition2.Time)).To(BeTrue())

		manager.rest()
		Eventually(eventsOf(uid)).Should(HaveExactElements(
			HavePrefix(requiredReason+": Required addon '"+base+"' "),
			HavePrefix(optionalReason+": Optional addon '"+alternative+"' "),
			HavePrefix(satisfiedReason+": "),
			HavePrefix(optionalReason+": Optional addon '"+alternative+"' "),
		))
		Expect(sum(must(manager.series(metrics.NameWrites, "addon", leaf, "result", "success")))).To(BeNumerically(">=", 5))
	})
})
