package stability

import (
	"sync/atomic"
	"testing"
)

func TestEveryInstallationEnds(t *testing.T) {
	var states, steps atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for _, world := range installationWorlds(2) {
			t.Run(world.String(), func(t *testing.T) {
				t.Parallel()
				explored := newInstallationModel(world).check()
				for _, problem := range explored.problems {
					t.Error(problem)
				}
				states.Add(int64(explored.states))
				steps.Add(int64(explored.edges))
			})
		}
	})
	t.Logf("%d states, %d steps", states.Load(), steps.Load())
}
