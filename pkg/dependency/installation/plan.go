package installation

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
)

// Within a minute, add-ons are installed on 20 managed clusters, or on 5 % of the fleet, whichever is more.
const (
	clustersAMinute = 20
	percentAMinute  = 5
)

// Within an hour, an add-on is installed on 20 managed clusters, or on half of the fleet, whichever is more. A change that would
// go further waits for an approval.
const (
	clustersUnapproved = 20
	percentUnapproved  = 50
	oneChange          = time.Hour
)

// Target is an add-on that is to be installed on a managed cluster.
type Target struct{ Cluster, AddOn string }

// Fleet is what a plan depends on, besides the targets.
type Fleet struct {
	// Clusters is how many managed clusters there are.
	Clusters int
	// Approved returns on how many of them the installation of an add-on is approved.
	Approved func(addOn string) int
}

// Plan is what is to be done now. All of its lists are ascending by add-on, then by cluster.
type Plan struct {
	// Now is to be done now.
	Now []Target
	// Unapproved is on how many managed clusters add-ons would be installed, by the add-ons that wait for an approval. Clusters
	// where the add-on was installed within the last hour count.
	Unapproved map[string]int
	// GivenUp was undone again and again.
	GivenUp []Target
	// Delayed waits for the next minute.
	Delayed []Target
	// Next is when to plan again; zero: when something changes.
	Next time.Time
}

// Make plans what is installed at a moment, of all targets that are needed and not installed.
func (h *History) Make(needed []Target, fleet Fleet, now time.Time) (plan Plan) {
	needed = slices.Clone(needed)
	slices.SortFunc(needed, func(a, b Target) int {
		return cmp.Or(cmp.Compare(a.AddOn, b.AddOn), cmp.Compare(a.Cluster, b.Cluster))
	})
	ready := slices.DeleteFunc(slices.Compact(needed), func(target Target) bool {
		again := h.tries[target].again()
		if again.After(now) {
			plan.GivenUp = append(plan.GivenUp, target)
			plan.planAgain(again)
		}
		return again.After(now)
	})
	plan.Unapproved = h.unapproved(ready, fleet, now)
	h.withinBudget(slices.DeleteFunc(ready, func(target Target) bool { return plan.Unapproved[target.AddOn] > 0 }), fleet, now, &plan)
	return plan
}

func (p *Plan) planAgain(at time.Time) {
	if p.Next.IsZero() || at.Before(p.Next) {
		p.Next = at
	}
}

// unapproved returns the add-ons that need an approval. What was installed within the last hour counts: a change that reaches the
// fleet little by little is one change.
func (h *History) unapproved(ready []Target, fleet Fleet, now time.Time) map[string]int {
	together := sets.New(ready...)
	for target, tried := range h.tries {
		if now.Sub(tried.at) <= oneChange {
			together.Insert(target)
		}
	}
	unapproved, waiting := map[string]int{}, sets.New[string]()
	for target := range together {
		unapproved[target.AddOn]++
	}
	for _, target := range ready {
		waiting.Insert(target.AddOn)
	}
	limit := max(clustersUnapproved, fleet.Clusters*percentUnapproved/100)
	maps.DeleteFunc(unapproved, func(addOn string, clusters int) bool {
		return !waiting.Has(addOn) || clusters <= limit || clusters <= fleet.Approved(addOn)
	})
	return unapproved
}

// withinBudget adds to the plan what may be installed within this minute. It counts clusters: what else is installed on one of them
// takes nothing.
func (h *History) withinBudget(ready []Target, fleet Fleet, now time.Time, plan *Plan) {
	touched, oldest := sets.New[string](), now
	for target, tried := range h.tries {
		if now.Sub(tried.at) < time.Minute {
			touched.Insert(target.Cluster)
			if tried.at.Before(oldest) {
				oldest = tried.at
			}
		}
	}
	budget := max(clustersAMinute, fleet.Clusters*percentAMinute/100)
	for _, target := range ready {
		if !touched.Has(target.Cluster) && touched.Len() >= budget {
			plan.Delayed = append(plan.Delayed, target)
			plan.planAgain(oldest.Add(time.Minute))
			continue
		}
		touched.Insert(target.Cluster)
		plan.Now = append(plan.Now, target)
	}
}

// Approved reports whether one change may touch an add-on on so many managed clusters of a fleet. approved is how many its owner has
// approved.
func Approved(clusters, fleet, approved int) bool {
	return clusters <= max(clustersUnapproved, fleet*percentUnapproved/100) || clusters <= approved
}
