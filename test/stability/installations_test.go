package stability

import (
	"flag"
	"sync/atomic"
	"testing"
)

// interventions is the number of times that users, owners, GitOps, the managed cluster and crashes interfere with an
// installation. With 2, all schedules take some seconds. With 3, they take minutes and 4 GiB without a former leader that
// still writes, and more than 20 GiB with it: make test-schedules leaves it out.
var interventions = flag.Uint("interventions", 2, "Interventions in each schedule of an installation.")

func TestEveryInstallationEnds(t *testing.T) {
	var states, steps atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for _, world := range installationWorlds(uint8(*interventions)) {
			world.OneLeader = *interventions > 2
			t.Run(world.String(), func(t *testing.T) {
				t.Parallel()
				exploration := newInstallationModel(world).check()
				for _, problem := range exploration.problems {
					t.Error(problem)
				}
				states.Add(int64(exploration.states))
				steps.Add(int64(exploration.edges))
			})
		}
	})
	t.Logf("%d states, %d steps", states.Load(), steps.Load())
}
