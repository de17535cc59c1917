package stability

import (
	"sync/atomic"
	"testing"
)

func newTestRules(t *testing.T) *lifecycleRules {
	t.Helper()
	rules, err := newLifecycleRules(newTestInterlock(t))
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestEveryLifecycleEnds(t *testing.T) {
	rules := newTestRules(t)
	var states, steps atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for _, world := range lifecycles() {
			t.Run(world.String(), func(t *testing.T) {
				t.Parallel()
				exploration := newLifecycleModel(world, rules).check()
				for _, problem := range exploration.problems {
					t.Error(problem)
				}
				states.Add(int64(exploration.states))
				steps.Add(int64(exploration.edges))
			})
		}
	})
	t.Logf("%d worlds, %d states, %d steps", len(lifecycles()), states.Load(), steps.Load())
}
