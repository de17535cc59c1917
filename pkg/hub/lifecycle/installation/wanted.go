package installation

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// missing counts the managed clusters on which an add-on is missing, by the last assessments. It is safe for concurrent
// use.
type wanted struct {
	mutex sync.Mutex
	// byDependent has the missing dependencies of each add-on on a managed cluster.
	by map[types.NamespacedName][]string
	// dependents has the number of add-ons on each managed cluster that need a missing add-on.
	dependents map[string]map[string]int
	// growth counts how often each add-on became missing on another managed cluster.
	growth map[string]int
}

// set replaces the missing dependencies of an add-on.
func (w *wanted) set(dependent types.NamespacedName, missing []string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	before := w.by[dependent]
	if slices.Equal(before, missing) {
		return
	}
	w.add(dependent.Namespace, before, -1)
	w.add(dependent.Namespace, missing, 1)
	if len(missing) == 0 {
		delete(w.by, dependent)
		return
	}
	if w.by == nil {
		w.by = map[types.NamespacedName][]string{}
	}
	w.by[dependent] = missing
}

func (w *wanted) add(cluster string, addOns []string, count int) {
	for _, addOn := range addOns {
		on := w.dependents[addOn]
		if on == nil {
			if w.dependents == nil {
				w.dependents, w.growth = map[string]map[string]int{}, map[string]int{}
			}
			on = map[string]int{}
			w.dependents[addOn] = on
		}
		if on[cluster] == 0 {
			w.growth[addOn]++
		}
		if on[cluster] += count; on[cluster] <= 0 {
			delete(on, cluster)
		}
	}
}

// clusters returns the clusters on which an add-on is missing, and the growth of their number.
func (w *wanted) clusters(addOn string) ([]string, int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Collect(maps.Keys(w.dependents[addOn])), w.growth[addOn]
}

// all returns the add-ons on managed clusters that need a missing add-on.
func (w *wanted) all() []types.NamespacedName {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Collect(maps.Keys(w.by))
}
