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
				found := newModel(world, i).check()
				for _, problem := range found.problems {
					t.Error(problem)
				}
				if found.answered > 0 != world.answers() {
					t.Errorf("%d livelocks in which addon-agent answers True", found.answered)
				}
				states.Add(int64(found.states))
				steps.Add(int64(found.edges))
			})
		}
	})
	t.Logf("%d worlds, %d states, %d steps", len(worlds()), states.Load(), steps.Load())
}

// answers reports whether the one exception concerns the world: without a guard,
// a stock writer keeps setting True beside a failing Required dependency. On a
// lost cluster Degraded is held, so there it may fail whatever the dependency is.
func (w World) answers() bool {
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

// OCM alone has one fight, which Interlock neither causes nor can end.
func TestStockComponentsAlone(t *testing.T) {
	i := newTestInterlock(t)
	for _, world := range inputs() {
		world.Without = true
		t.Run(world.String(), func(t *testing.T) {
			found := newModel(world, i).check()
			if found.stock > 0 != world.stockFight() || len(found.problems) > 0 {
				t.Errorf("%d livelocks, problems %q", found.stock, found.problems)
			}
		})
	}
}
