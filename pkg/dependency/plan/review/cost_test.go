package review

import (
	"fmt"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// The allocations of a review depend on the add-on, not on the size of the hub.
func TestAReviewCostsWhatTheAddOnDeclares(t *testing.T) {
	for name, make := range map[string]func(addOns, edges int) []addonv1alpha1.ClusterManagementAddOn{
		"plain": plainHub, "conditional": fixture.ConditionalHub,
	} {
		t.Run(name, func(t *testing.T) {
			costs := map[int]float64{}
			for _, addOns := range []int{50, 500} {
				hub, added := make(addOns, 256), plainHub(257, 256)[0]
				added.Name = "added"
				var reviewer Reviewer
				reviewer.Review(&added, nil, hub)
				costs[addOns] = testing.AllocsPerRun(3, func() { reviewer.Review(&added, nil, hub) })
			}
			if costs[500] > 1.5*costs[50] {
				t.Errorf("%v allocations on a hub of 500 add-ons, %v of 50", costs[500], costs[50])
			}
		})
	}
}

// BenchmarkReview reviews a write on a hub whose add-ons have as many edges as they may.
func BenchmarkReview(b *testing.B) {
	member := fixture.ConditionalHub(500, 256)[0]
	for name, hub := range map[string][]addonv1alpha1.ClusterManagementAddOn{
		"plain": plainHub(500, 256), "conditional": fixture.ConditionalHub(500, 256),
	} {
		var reviewer Reviewer
		reviewer.Review(&hub[0], nil, hub)
		b.Run(name+"/on-the-cycle", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				reviewer.Review(&member, nil, hub)
			}
		})
		for _, edges := range []int{1, 256} {
			b.Run(fmt.Sprintf("%s/edges=%d", name, edges), func(b *testing.B) {
				added := plainHub(edges+1, edges)[0]
				added.Name = "added"
				b.ReportAllocs()
				for b.Loop() {
					reviewer.Review(&added, nil, hub)
				}
			})
		}
	}
}

// plainHub returns add-ons with edges on the add-ons that follow them.
func plainHub(addOns, edges int) []addonv1alpha1.ClusterManagementAddOn {
	name := func(i int) string { return fmt.Sprintf("addon-%03d", i) }
	hub := make([]addonv1alpha1.ClusterManagementAddOn, 0, addOns)
	for i := range addOns {
		var declared []addonv1alpha1.AddonDependency
		for j := i + 1; j < addOns && j <= i+edges; j++ {
			declared = append(declared, fixture.Required(name(j)))
		}
		hub = append(hub, fixture.Registration(name(i), declared...))
	}
	return hub
}
