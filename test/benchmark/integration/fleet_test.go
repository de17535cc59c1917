package integration

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

// rootIsDown is an outage of the root on every cluster.
func rootIsDown(key types.NamespacedName) bool { return key.Name == simulator.Root }

func nothingIsDown(types.NamespacedName) bool { return false }

func await(ctx context.Context, expected simulator.Expectation) {
	GinkgoHelper()
	_, err := observer.Await(ctx, expected, patience)
	Expect(err).NotTo(HaveOccurred())
}

// writes counts the writes of a user to the fleet since an earlier count. The API server logs a request only after it
// has answered it.
func writes(since simulator.Counts, user string) func() int {
	return func() int { return requestCounts().Since(since).Writes(user, simulator.FleetResources...) }
}

var _ = Describe("A fleet without agents", Ordered, func() {
	var (
		manager *simulator.Manager
		before  simulator.Counts
	)

	BeforeAll(func() {
		// The last writes of an addon-manager of other specs, such as events, may not be in the audit log yet.
		Eventually(func() int {
			earlier := before
			before = requestCounts()
			return before.Since(earlier).Writes(simulator.ManagerUser, simulator.AllResources...)
		}).WithPolling(time.Second).WithTimeout(20 * time.Second).Should(BeZero())
		manager = start(simulator.ManagerOptions{Name: "addon-manager"})
	})

	It("is available and has nothing that is written", func() {
		Expect(observer.Wrong(fleet.Expected(fleet.Clusters, nothingIsDown))).To(BeZero())
		Expect(requestCounts().Since(before).Writes(simulator.ManagerUser, simulator.AllResources...)).To(BeZero())
	})

	It("fails and recovers with what others depend on, with as many writes as that takes", func(ctx SpecContext) {
		before := requestCounts()
		_, err := trivial.Report(ctx, simulator.KeysOn(fleet.Clusters, simulator.Root), "False")
		Expect(err).NotTo(HaveOccurred())
		await(ctx, fleet.Expected(fleet.Clusters, rootIsDown))

		dependents := clusters * len(simulator.Dependents(fleet.AddOns, simulator.Root))
		Eventually(writes(before, simulator.ManagerUser)).Should(Equal(dependents))
		Eventually(writes(before, simulator.TrivialUser)).Should(Equal(clusters))
		Expect(requestCounts().Since(before).Reads(simulator.ManagerUser, simulator.AllResources...)).To(BeZero())

		_, err = trivial.Report(ctx, simulator.KeysOn(fleet.Clusters, simulator.Root), "True")
		Expect(err).NotTo(HaveOccurred())
		await(ctx, fleet.Expected(fleet.Clusters, nothingIsDown))
		Eventually(writes(before, simulator.ManagerUser)).Should(Equal(2 * dependents))
	})

	It("takes no notice of what does not matter", func(ctx SpecContext) {
		before := requestCounts()
		_, err := trivial.Touch(ctx, simulator.KeysOn(fleet.Clusters, simulator.Leaf), 3*clusters)
		Expect(err).NotTo(HaveOccurred())
		version, err := trivial.TouchOne(ctx, simulator.KeysOn(fleet.Clusters, simulator.Leaf)[0])
		Expect(err).NotTo(HaveOccurred())
		await(ctx, simulator.Expectation{simulator.KeysOn(fleet.Clusters, simulator.Leaf)[0]: simulator.VersionIs(version)})
		Eventually(writes(before, simulator.TrivialUser)).Should(Equal(3*clusters + 1))
		Expect(writes(before, simulator.ManagerUser)()).To(BeZero())
	})

	It("has meters that run", func(ctx SpecContext) {
		usage, err := simulator.UsageOf(manager.PID())
		Expect(err).NotTo(HaveOccurred())
		Expect(usage.RSS).To(BeNumerically(">", 1))
		Expect(usage.Peak).To(BeNumerically(">=", usage.RSS))
		Expect(usage.CPU).To(BeNumerically(">", 0))
		server, err := fleet.Hub.CPU(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(server).To(BeNumerically(">", 0))
		profile, err := manager.Profile(ctx, "heap")
		Expect(err).NotTo(HaveOccurred())
		Expect(profile).NotTo(BeEmpty())
	})
})

var _ = Describe("A fleet with an agent on each cluster", Ordered, func() {
	It("follows leases from the root to the last dependent's Available", func(ctx SpecContext) {
		before := requestCounts()
		start(simulator.ManagerOptions{Name: "with-agents"})
		agents, err := fleet.StartAgents(context.Background())
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(agents.Stop)
		for _, up := range []bool{false, true} {
			expected := fleet.Expected(fleet.Clusters, func(key types.NamespacedName) bool { return !up && rootIsDown(key) })
			status := map[bool]func(simulator.State) bool{false: simulator.AvailableIs("False"), true: simulator.AvailableIs("True")}[up]
			for _, cluster := range fleet.Clusters {
				if up {
					agents.Leases[cluster].Renew(simulator.Root)
				} else {
					agents.Leases[cluster].Stop(simulator.Root)
				}
				for _, edge := range simulator.Dependents(fleet.AddOns, simulator.Root) {
					key := types.NamespacedName{Namespace: cluster, Name: edge.Dependent}
					expected[key] = simulator.And(expected[key], status)
				}
			}
			await(ctx, expected)
		}
		Eventually(writes(before, simulator.AgentUser)).Should(Equal(2 * 3 * clusters))
	})
})

var _ = Describe("A fleet whose addon-manager is answered with faults", Ordered, func() {
	It("ends up as it must", func(ctx SpecContext) {
		faults := simulator.NewFaults(1, 0.3)
		proxy, err := fleet.Hub.StartProxy(faults)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(proxy.Stop)
		start(simulator.ManagerOptions{Name: "behind-proxy", Kubeconfig: proxy.Kubeconfig})
		for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionTrue} {
			_, err = trivial.Report(ctx, simulator.KeysOn(fleet.Clusters, simulator.Root), status)
			Expect(err).NotTo(HaveOccurred())
			down := func(key types.NamespacedName) bool { return status == metav1.ConditionFalse && rootIsDown(key) }
			await(ctx, fleet.Expected(fleet.Clusters, down))
		}
		Expect(faults.Requests()).To(BeNumerically(">", faults.Count(simulator.NoFault)), "some answers have gone wrong")
	})
})
