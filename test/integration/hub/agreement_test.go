package hub

import (
	"fmt"
	"math/rand/v2"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

var _ = Describe("A snapshot of the hub, which the plugin evaluates", func() {
	It("agrees with every condition that addon-manager has written", func() {
		manager := start()
		chance := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 0))
		addOns := make([]string, 8)
		for i := range addOns {
			addOns[i] = unique("agreed")
			register(addOns[i], randomEdges(chance, addOns[:i])...)
		}
		clusters := make([]string, 6)
		for i := range clusters {
			clusters[i] = newCluster()
			accept(clusters[i])
			for _, addOn := range addOns {
				if chance.IntN(5) > 0 {
					running(clusters[i], addOn)
				}
			}
		}
		for round := range 8 {
			By(fmt.Sprintf("round %d", round))
			for range 10 {
				shake(chance, clusters[chance.IntN(len(clusters))], addOns[chance.IntN(len(addOns))])
			}
			manager.rest()
			Eventually(disagreements).WithArguments(clusters).Should(BeEmpty())
		}
	})
})

// randomEdges are edges on some of the add-ons.
func randomEdges(chance *rand.Rand, on []string) (edges []addonv1alpha1.AddonDependency) {
	for _, name := range on {
		edge := required(name)
		switch chance.IntN(8) {
		case 0:
		case 1:
			edge = optional(name)
		case 2:
			edge.Name, edge.AddOn = name+"-too", name
		case 3:
			edge.When = &addonv1alpha1.DependencyWhen{ClusterSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"gated": "true"}}}
		default:
			continue
		}
		edges = append(edges, edge)
	}
	return edges
}

// shake changes something of an add-on or its cluster.
func shake(chance *rand.Rand, cluster, addOn string) {
	GinkgoHelper()
	there, err := version(cluster, addOn)()
	switch roll := chance.IntN(10); {
	case roll == 0:
		reach(cluster, []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionUnknown}[chance.IntN(2)])
	case err != nil || there == "":
		running(cluster, addOn)
	case roll == 1:
		uninstall(cluster, addOn)
	case roll < 6:
		report(cluster, addOn, metav1.ConditionFalse, leaseStale)
	default:
		report(cluster, addOn, metav1.ConditionTrue, leaseFresh)
	}
}

// disagreements are the add-ons whose stored condition the plugin would change.
func disagreements(clusters []string) []string {
	GinkgoHelper()
	taken, err := snapshot.Take(ctx, hubClient, "")
	Expect(err).NotTo(HaveOccurred())
	var differ []string
	compared := 0
	for _, cluster := range clusters {
		findings := taken.Evaluated(cluster)
		for _, addOn := range taken.Installed(cluster) {
			compared++
			if wanted, write := condition.Decide(fleet.Degraded(addOn), findings(addOn.Name), metav1.NewTime(taken.Taken)); write {
				differ = append(differ, fmt.Sprintf("%s on %s has %v, and would have %v", addOn.Name, cluster, fleet.Degraded(addOn), wanted))
			}
		}
	}
	Expect(compared).To(BeNumerically(">", len(clusters)))
	return differ
}
