package installation

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
)

var now = time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)

// on are targets of one add-on on the first clusters.
func on(addOn string, clusters int) (targets []Target) {
	for i := range clusters {
		targets = append(targets, Target{fmt.Sprintf("cluster%04d", i+1), addOn})
	}
	return targets
}

func fleetOf(clusters int, approved map[string]int) Fleet {
	return Fleet{Clusters: clusters, Approved: func(addOn string) int { return approved[addOn] }}
}

func TestPlan(t *testing.T) {
	type counts struct {
		Install, Delayed, GivenUp int
		Unapproved                map[string]int
		Next                      time.Duration
	}
	for _, test := range []struct {
		name string
		// installed are the targets of earlier plans, by how long ago that was.
		installed map[time.Duration][]Target
		needed    []Target
		clusters  int
		approved  map[string]int
		want      counts
	}{
		{"nothing", nil, nil, 100, nil, counts{}},
		{"a small fleet at once", nil, on("base", 20), 20, nil, counts{Install: 20}},
		{"twenty clusters a minute", nil, on("base", 30), 100, nil, counts{Install: 20, Delayed: 10, Next: time.Minute}},
		{"or 5 % of a large fleet", nil, on("base", 300), 1000, nil, counts{Install: 50, Delayed: 250, Next: time.Minute}},
		{
			"the rest of a minute",
			map[time.Duration][]Target{40 * time.Second: on("other", 15)},
			on("base", 30), 100, nil,
			counts{Install: 20, Delayed: 10, Next: 20 * time.Second},
		},
		{
			"what was installed a minute ago takes nothing",
			map[time.Duration][]Target{time.Minute: on("base", 20)},
			on("base", 40)[20:], 100, nil,
			counts{Install: 20},
		},
		{"two add-ons on a cluster count once", nil, append(on("base", 20), on("other", 20)...), 100, nil, counts{Install: 40}},
		{"a target twice", nil, append(on("base", 2), on("base", 2)...), 100, nil, counts{Install: 2}},
		{
			"more than half of the fleet waits for an approval", nil, on("base", 501), 1000, nil,
			counts{Unapproved: map[string]int{"base": 501}},
		},
		{"half of it does not", nil, on("base", 500), 1000, nil, counts{Install: 50, Delayed: 450, Next: time.Minute}},
		{
			"an approval for as many", nil, on("base", 501), 1000,
			map[string]int{"base": 501},
			counts{Install: 50, Delayed: 451, Next: time.Minute},
		},
		{
			"an approval for fewer", nil, on("base", 501), 1000,
			map[string]int{"base": 500},
			counts{Unapproved: map[string]int{"base": 501}},
		},
		{
			"little by little is one change",
			map[time.Duration][]Target{30 * time.Minute: on("base", 500)},
			on("base", 501)[500:], 1000, nil,
			counts{Unapproved: map[string]int{"base": 501}},
		},
		{
			"not after an hour",
			map[time.Duration][]Target{61 * time.Minute: on("base", 500)},
			on("base", 501)[500:], 1000, nil,
			counts{Install: 1},
		},
		{
			"an add-on that waits does not delay others", nil, append(on("base", 600), on("other", 10)...), 1000, nil,
			counts{Install: 10, Unapproved: map[string]int{"base": 600}},
		},
		{"undone once", map[time.Duration][]Target{time.Minute: on("base", 1)}, on("base", 1), 10, nil, counts{Install: 1}},
		{
			"undone twice within an hour",
			map[time.Duration][]Target{40 * time.Minute: on("base", 1), 10 * time.Minute: on("base", 1)},
			on("base", 2), 10, nil,
			counts{Install: 1, GivenUp: 1, Next: 50 * time.Minute},
		},
		{
			"undone twice on two days",
			map[time.Duration][]Target{30 * time.Hour: on("base", 1), 10 * time.Minute: on("base", 1)},
			on("base", 1), 10, nil,
			counts{Install: 1},
		},
		{
			"undone once more after an hour", map[time.Duration][]Target{
				2 * time.Hour: on("base", 1), 110 * time.Minute: on("base", 1), 50 * time.Minute: on("base", 1),
			}, on("base", 1), 10, nil, counts{GivenUp: 1, Next: 70 * time.Minute},
		},
		{
			"undone after it stayed for hours", map[time.Duration][]Target{
				9 * time.Hour: on("base", 1), 530 * time.Minute: on("base", 1), time.Minute: on("base", 1),
			}, on("base", 1), 10, nil, counts{Install: 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var history History
			for _, ago := range sortedDescending(test.installed) {
				for _, target := range test.installed[ago] {
					history.Installed(target, now.Add(-ago))
				}
			}
			plan := history.Make(test.needed, fleetOf(test.clusters, test.approved), now)
			got := counts{Install: len(plan.Now), Delayed: len(plan.Delayed), GivenUp: len(plan.GivenUp)}
			if len(plan.Unapproved) > 0 {
				got.Unapproved = plan.Unapproved
			}
			if !plan.Next.IsZero() {
				got.Next = plan.Next.Sub(now)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func sortedDescending(by map[time.Duration][]Target) (all []time.Duration) {
	for ago := 48 * time.Hour; ago >= 0; ago -= time.Second {
		if by[ago] != nil {
			all = append(all, ago)
		}
	}
	return all
}

// Whatever is needed and undone, in whatever order: no minute touches more clusters than the budget, and everything that is not
// given up and needs no approval is installed in the end.
func TestPlansStayWithinTheBudget(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 0))
		clusters := 1 + random.IntN(1000)
		var history History
		needed := sets.New(on("base", random.IntN(clusters/2+1))...).Insert(on("other", random.IntN(clusters/2+1))...)
		at, done := now, map[Target]time.Time{}
		for round := 0; needed.Len() > 0; round++ {
			if round > 2000 {
				t.Fatalf("seed %d: %d targets are never installed", seed, needed.Len())
			}
			plan := history.Make(needed.UnsortedList(), fleetOf(clusters, nil), at)
			for _, target := range plan.Now {
				history.Installed(target, at)
				done[target] = at
				needed.Delete(target)
			}
			within := sets.New[string]()
			for target, when := range done {
				if at.Sub(when) < time.Minute {
					within.Insert(target.Cluster)
				}
			}
			if within.Len() > max(20, clusters/20) {
				t.Fatalf("seed %d: %d of %d clusters within a minute", seed, within.Len(), clusters)
			}
			if plan.Next.IsZero() && needed.Len() > 0 {
				t.Fatalf("seed %d: nothing is planned any more for %d targets", seed, needed.Len())
			}
			at = at.Add(time.Duration(1+random.IntN(30)) * time.Second)
		}
	}
}

func TestForget(t *testing.T) {
	var history History
	history.Installed(Target{"cluster1", "base"}, now)
	history.Forget(now.Add(24 * time.Hour))
	if len(history.tries) != 1 {
		t.Error("forgot what matters still")
	}
	history.Forget(now.Add(49 * time.Hour))
	if len(history.tries) != 0 {
		t.Error("remembers for ever")
	}
}
