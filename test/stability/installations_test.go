package stability

import (
	"flag"
	"sync/atomic"
	"testing"
)

// interventions is how many times users, owners, GitOps, the managed cluster and crashes interfere with an installation. With 2, all
// schedules take some seconds. With 3, they take minutes and 4 GiB: make test-schedules.
var interventions = flag.Uint("interventions", 2, "Interventions in each schedule of an installation.")

func TestEveryInstallationEnds(t *testing.T) {
	var states, steps atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for _, world := range installationWorlds(uint8(*interventions)) {
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
