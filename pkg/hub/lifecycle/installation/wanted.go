package installation

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// wanted counts on which managed clusters an add-on is missing, by the last assessments. It is safe for concurrent use.
type wanted struct {
	mutex sync.Mutex
	// by is what each add-on on a managed cluster misses.
	by map[types.NamespacedName][]string
	// dependents is how many add-ons on each managed cluster miss an add-on.
	dependents map[string]map[string]int
	// growth is how many times each add-on was missing on one more managed cluster.
	growth map[string]int
}

// set replaces what an add-on misses.
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

// clusters returns where an add-on is missing, and how many times it was missing on one more managed cluster.
func (w *wanted) clusters(addOn string) (clusters []string, growth int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Collect(maps.Keys(w.dependents[addOn])), w.growth[addOn]
}

// all returns the add-ons on managed clusters that miss another one.
func (w *wanted) all() []types.NamespacedName {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Collect(maps.Keys(w.by))
}
