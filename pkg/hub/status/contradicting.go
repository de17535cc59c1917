package status

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// contradicting indexes, by cluster, the add-ons whose gate is closed because of a contradiction.
type contradictionIndex struct {
	mutex     sync.Mutex
	byCluster map[string]map[types.NamespacedName]bool
}

func (c *contradictionIndex) add(addOn types.NamespacedName) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.byCluster == nil {
		c.byCluster = map[string]map[types.NamespacedName]bool{}
	}
	if c.byCluster[addOn.Namespace] == nil {
		c.byCluster[addOn.Namespace] = map[types.NamespacedName]bool{}
	}
	c.byCluster[addOn.Namespace][addOn] = true
}

func (c *contradictionIndex) remove(addOn types.NamespacedName) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.byCluster[addOn.Namespace], addOn)
	if len(c.byCluster[addOn.Namespace]) == 0 {
		delete(c.byCluster, addOn.Namespace)
	}
}

// on returns those on a cluster.
func (c *contradictionIndex) onCluster(cluster string) []types.NamespacedName {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Collect(maps.Keys(c.byCluster[cluster]))
}

// any reports whether there are any.
func (c *contradictionIndex) hasAny() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.byCluster) > 0
}
