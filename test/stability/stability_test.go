package stability

import (
	"sync/atomic"
	"testing"

	"open-cluster-management.io/interlock/test/stability/stock"
)

func newTestInterlock(t *testing.T) *interlock {
	t.Helper()
	i, err := newInterlock()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestEveryScheduleEnds(t *testing.T) {
	i := newTestInterlock(t)
	var states, steps atomic.Int64
	t.Run("worlds", func(t *testing.T) {
		for _, world := range worlds() {
			t.Run(world.String(), func(t *testing.T) {
				t.Parallel()
				exploration := newModel(world, i).check()
				for _, problem := range exploration.problems {
					t.Error(problem)
				}
				if exploration.corrections > 0 != world.corrects() {
					t.Errorf("%d livelocks in which addon-agent answers True", exploration.corrections)
				}
				states.Add(int64(exploration.states))
				steps.Add(int64(exploration.edges))
			})
		}
	})
	t.Logf("%d worlds, %d states, %d steps", len(worlds()), states.Load(), steps.Load())
}

// corrects reports whether the one exception concerns the world: without a guard, a stock writer keeps setting True
// beside a failing Required dependency. On a lost cluster Degraded is held, so it may fail there with every state of
// the dependency.
func (w World) corrects() bool {
	switch {
	case w.Guard || !w.AddOnAgent:
		return false
	case w.stockFight():
		return true
	case w.Dependency != RequiredMissing || !w.RegistrationAgent:
		return false
	default:
		return w.AddOnLease == stock.LiveLease || w.Prober == stock.WorkProberWithoutFields ||
			w.Prober == stock.WorkProber && w.Work == stock.WorkHealthy
	}
}

// OCM alone has a single fight. Interlock neither causes it nor can end it.
func TestStockComponentsAlone(t *testing.T) {
	i := newTestInterlock(t)
	for _, world := range inputs() {
		world.NoInterlock = true
		t.Run(world.String(), func(t *testing.T) {
			exploration := newModel(world, i).check()
			if exploration.stock > 0 != world.stockFight() || len(exploration.problems) > 0 {
				t.Errorf("%d livelocks, problems %q", exploration.stock, exploration.problems)
			}
		})
	}
}
