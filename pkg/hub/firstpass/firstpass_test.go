package firstpass

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/trigger"
	"open-cluster-management.io/interlock/test/triggertest"
)

func TestPass(t *testing.T) {
	one, two := types.NamespacedName{Namespace: "cluster1", Name: "one"}, types.NamespacedName{Namespace: "cluster2", Name: "two"}
	for name, test := range map[string]struct {
		steps func(*Pass)
		// over is where the pass is over afterwards.
		over []string
	}{
		"has not begun":           {func(*Pass) {}, nil},
		"is being listed":         {func(p *Pass) { p.Add(one); p.Assessed(one) }, nil},
		"no add-on exists":        {func(p *Pass) { p.Listed() }, []string{Everywhere, "cluster1", "cluster2"}},
		"one is not assessed yet": {func(p *Pass) { p.Add(one); p.Add(two); p.Listed(); p.Assessed(one) }, nil},
		"all are assessed": {
			func(p *Pass) { p.Add(one); p.Add(two); p.Listed(); p.Assessed(one); p.Assessed(two) },
			[]string{Everywhere, "cluster1", "cluster2"},
		},
		"one fails": {
			func(p *Pass) { p.Add(one); p.Add(two); p.Listed(); p.Failed(one); p.Assessed(two) },
			[]string{Everywhere, "cluster2"},
		},
		"one fails, one is not tried": {func(p *Pass) { p.Add(one); p.Add(two); p.Listed(); p.Failed(one) }, nil},
		"one fails again and again": {func(p *Pass) { p.Add(one); p.Listed(); p.Failed(one); p.Failed(one) }, []string{
			Everywhere,
			"cluster2",
		}},
		"one fails, and then does not": {func(p *Pass) { p.Add(one); p.Listed(); p.Failed(one); p.Assessed(one) }, []string{
			Everywhere,
			"cluster1", "cluster2",
		}},
		"a later failure of one": {func(p *Pass) { p.Add(one); p.Listed(); p.Assessed(one); p.Failed(one) }, []string{
			Everywhere,
			"cluster1", "cluster2",
		}},
		"one that was created later": {func(p *Pass) { p.Listed(); p.Failed(one) }, []string{Everywhere, "cluster1", "cluster2"}},
		"two of a cluster fail": {func(p *Pass) {
			p.Add(one)
			p.Add(other(one))
			p.Listed()
			p.Failed(one)
			p.Failed(other(one))
			p.Assessed(one)
		}, []string{Everywhere, "cluster2"}},
		"both of these are then solved": {func(p *Pass) {
			p.Add(one)
			p.Add(other(one))
			p.Listed()
			p.Failed(one)
			p.Failed(other(one))
			p.Assessed(one)
			p.Assessed(other(one))
		}, []string{Everywhere, "cluster1", "cluster2"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, early := range []bool{true, false} { // whether the controllers wait from the beginning on
				p, changed := New(), trigger.New()
				queue := triggertest.NewQueue(t)
				if err := changed.Source().Start(t.Context(), queue); err != nil {
					t.Fatal(err)
				}
				await := func() (over []string) {
					for _, cluster := range []string{Everywhere, "cluster1", "cluster2"} {
						if p.Await(cluster, changed, types.NamespacedName{Namespace: cluster, Name: "key"}) {
							over = append(over, cluster)
						}
					}
					return over
				}
				var want []string
				if early {
					await()
					for _, cluster := range test.over {
						want = append(want, cluster+"/key")
					}
				}
				test.steps(p)
				if got := triggertest.Drain(queue); !slices.Equal(got, want) {
					t.Errorf("enqueues %q, want %q", got, want)
				}
				if over := await(); !slices.Equal(over, test.over) {
					t.Errorf("over on %q, want %q", over, test.over)
				}
			}
		})
	}
}

func other(addOn types.NamespacedName) types.NamespacedName {
	addOn.Name += "-other"
	return addOn
}

func TestWithoutAPassNothingWaits(t *testing.T) {
	var none *Pass
	none.Add(types.NamespacedName{})
	none.Listed()
	if none.Assessed(types.NamespacedName{}); !none.Await(Everywhere, nil, types.NamespacedName{}) {
		t.Error("waits")
	}
}
