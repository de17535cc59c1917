package hub

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

var _ = Describe("Two replicas", Ordered, func() {
	var leader, standby *process
	var clusters []string
	var leaf, base string

	replica := func() *process {
		GinkgoHelper()
		return start(func(o *hub.Options) { o.LeaderElection = true })
	}
	writesOf := func(p *process) float64 {
		GinkgoHelper()
		return sum(must(p.series(metrics.NameWrites)))
	}
	setBase := func(status metav1.ConditionStatus, names ...string) {
		GinkgoHelper()
		for _, cluster := range names {
			report(cluster, base, status, leaseFresh)
		}
	}

	BeforeAll(func() {
		leaf, base = unique("leaf"), unique("base")
		register(base)
		register(leaf, required(base))
		for range 5 {
			clusters = append(clusters, newCluster())
			installAvailable(clusters[len(clusters)-1], base, leaf)
		}
		leader = replica()
		Eventually(leader.elected).Should(BeClosed())
		leader.rest() // the API server then has counted the requests of earlier specs
		standby = replica()
	})

	It("have only one writer", func() {
		appliesBefore := applies()
		setBase(metav1.ConditionFalse, clusters...)
		for _, cluster := range clusters {
			Eventually(degradedOf(cluster, leaf)).Should(requiredFails())
		}
		leader.rest()
		Expect(applies() - appliesBefore).To(BeEquivalentTo(len(clusters)))
		Expect(writesOf(leader)).To(BeEquivalentTo(len(clusters)))
		Expect(writesOf(standby)).To(BeZero())
		Expect(standby.elected).NotTo(BeClosed())
	})

	It("take over from each other without writing", func() {
		appliesBefore := applies()
		leader.stop()
		Expect(leader.failure).NotTo(HaveOccurred())
		Eventually(standby.elected).Should(BeClosed())
		Eventually(standby.evaluations).Should(BeNumerically(">=", 2*len(clusters)))
		standby.rest()
		Expect(applies() - appliesBefore).To(BeZero())

		leader = standby
		setBase(metav1.ConditionTrue, clusters[0])
		Eventually(degradedOf(clusters[0], leaf)).Should(satisfied())
		leader.rest()
		Expect(applies() - appliesBefore).To(BeEquivalentTo(1))
	})

	It("take over from a dead leader, and write only the changes that it missed", func() {
		standby = replica()
		appliesBefore := applies()
		leader.cut.Store(true)
		setBase(metav1.ConditionTrue, clusters[1], clusters[2])
		Consistently(standby.elected).ShouldNot(BeClosed(), "its lease has not expired")

		Eventually(standby.elected).WithTimeout(40 * time.Second).Should(BeClosed())
		Eventually(degradedOf(clusters[1], leaf)).Should(satisfied())
		Eventually(degradedOf(clusters[2], leaf)).Should(satisfied())
		standby.rest()
		Expect(applies() - appliesBefore).To(BeEquivalentTo(2))
		Eventually(leader.exit).Should(BeClosed())
		Expect(leader.failure).To(MatchError(ContainSubstring("leader election lost")))
	})
})
