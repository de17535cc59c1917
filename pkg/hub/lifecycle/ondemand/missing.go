package ondemand

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// missing counts the managed clusters on which an add-on is missing, by the last assessments. It is safe for concurrent
// use.
type missing struct {
	mutex sync.Mutex
	// byDependent has the missing dependencies of each add-on on a managed cluster.
	byDependent map[types.NamespacedName][]string
	// dependents has the number of add-ons on each managed cluster that need a missing add-on.
	dependents map[string]map[string]int
	// growth counts how often each add-on became missing on another managed cluster.
	growth map[string]int
}

// set replaces the missing dependencies of an add-on.
func (m *missing) set(dependent types.NamespacedName, missing []string) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	old := m.byDependent[dependent]
	if slices.Equal(old, missing) {
		return
	}
	m.add(dependent.Namespace, old, -1)
	m.add(dependent.Namespace, missing, 1)
	if len(missing) == 0 {
		delete(m.byDependent, dependent)
		return
	}
	if m.byDependent == nil {
		m.byDependent = map[types.NamespacedName][]string{}
	}
	m.byDependent[dependent] = missing
}

func (m *missing) add(cluster string, addOns []string, count int) {
	for _, addOn := range addOns {
		clusters := m.dependents[addOn]
		if clusters == nil {
			if m.dependents == nil {
				m.dependents, m.growth = map[string]map[string]int{}, map[string]int{}
			}
			clusters = map[string]int{}
			m.dependents[addOn] = clusters
		}
		if clusters[cluster] == 0 {
			m.growth[addOn]++
		}
		if clusters[cluster] += count; clusters[cluster] <= 0 {
			delete(clusters, cluster)
		}
	}
}

// clusters returns the clusters on which an add-on is missing, and the growth of their number.
func (m *missing) clusters(addOn string) ([]string, int) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return slices.Collect(maps.Keys(m.dependents[addOn])), m.growth[addOn]
}

// keysOfDependents returns the add-ons on managed clusters that need a missing add-on.
func (m *missing) keysOfDependents() []types.NamespacedName {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return slices.Collect(maps.Keys(m.byDependent))
}
