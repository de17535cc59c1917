package firstpass

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/triggertest"
)

func TestPass(t *testing.T) {
	first, second := types.NamespacedName{Namespace: "cluster1", Name: "one"}, types.NamespacedName{Namespace: "cluster2", Name: "two"}
	for name, test := range map[string]struct {
		steps func(*Pass)
		// complete has the clusters where the pass is complete after the step.
		complete []string
	}{
		"has not begun":           {func(*Pass) {}, nil},
		"is being listed":         {func(p *Pass) { p.Add(first); p.Assessed(first) }, nil},
		"no add-on exists":        {func(p *Pass) { p.Listed() }, []string{Everywhere, "cluster1", "cluster2"}},
		"one is not assessed yet": {func(p *Pass) { p.Add(first); p.Add(second); p.Listed(); p.Assessed(first) }, nil},
		"all are assessed": {
			func(p *Pass) { p.Add(first); p.Add(second); p.Listed(); p.Assessed(first); p.Assessed(second) },
			[]string{Everywhere, "cluster1", "cluster2"},
		},
		"one fails": {
			func(p *Pass) { p.Add(first); p.Add(second); p.Listed(); p.Failed(first); p.Assessed(second) },
			[]string{Everywhere, "cluster2"},
		},
		"one fails, one is not tried": {func(p *Pass) { p.Add(first); p.Add(second); p.Listed(); p.Failed(first) }, nil},
		"one fails again and again": {func(p *Pass) { p.Add(first); p.Listed(); p.Failed(first); p.Failed(first) }, []string{
			Everywhere,
			"cluster2",
		}},
		"one fails, and then does not": {func(p *Pass) { p.Add(first); p.Listed(); p.Failed(first); p.Assessed(first) }, []string{
			Everywhere,
			"cluster1", "cluster2",
		}},
		"a later failure of one": {func(p *Pass) { p.Add(first); p.Listed(); p.Assessed(first); p.Failed(first) }, []string{
			Everywhere,
			"cluster1", "cluster2",
		}},
		"one that was created later": {func(p *Pass) { p.Listed(); p.Failed(first) }, []string{Everywhere, "cluster1", "cluster2"}},
		"two of a cluster fail": {func(p *Pass) {
			p.Add(first)
			p.Add(neighborOf(first))
			p.Listed()
			p.Failed(first)
			p.Failed(neighborOf(first))
			p.Assessed(first)
		}, []string{Everywhere, "cluster2"}},
		"both of these are then solved": {func(p *Pass) {
			p.Add(first)
			p.Add(neighborOf(first))
			p.Listed()
			p.Failed(first)
			p.Failed(neighborOf(first))
			p.Assessed(first)
			p.Assessed(neighborOf(first))
		}, []string{Everywhere, "cluster1", "cluster2"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, early := range []bool{true, false} { // whether the controllers wait from the beginning on
				p, changed := New(), trigger.New()
				queue := triggertest.NewQueue(t)
				if err := changed.Source().Start(t.Context(), queue); err != nil {
					t.Fatal(err)
				}
				await := func() (complete []string) {
					for _, cluster := range []string{Everywhere, "cluster1", "cluster2"} {
						if p.Await(cluster, changed, types.NamespacedName{Namespace: cluster, Name: "key"}) {
							complete = append(complete, cluster)
						}
					}
					return complete
				}
				var want []string
				if early {
					await()
					for _, cluster := range test.complete {
						want = append(want, cluster+"/key")
					}
				}
				test.steps(p)
				if got := triggertest.Drain(queue); !slices.Equal(got, want) {
					t.Errorf("enqueues %q, want %q", got, want)
				}
				if complete := await(); !slices.Equal(complete, test.complete) {
					t.Errorf("over on %q, want %q", complete, test.complete)
				}
			}
		})
	}
}

func neighborOf(addOn types.NamespacedName) types.NamespacedName {
	addOn.Name += "-other"
	return addOn
}

func TestWithoutAPassNothingWaits(t *testing.T) {
	var pass *Pass
	pass.Add(types.NamespacedName{})
	pass.Listed()
	if pass.Assessed(types.NamespacedName{}); !pass.Await(Everywhere, nil, types.NamespacedName{}) {
		t.Error("waits")
	}
}
