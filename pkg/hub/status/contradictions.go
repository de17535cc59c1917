package status

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// contradictionIndex has, by cluster, the add-ons whose gate is closed because of a contradiction.
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

// onCluster returns the add-ons on a cluster.
func (c *contradictionIndex) onCluster(cluster string) []types.NamespacedName {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Collect(maps.Keys(c.byCluster[cluster]))
}

// hasAny reports whether the index has any add-on.
func (c *contradictionIndex) hasAny() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.byCluster) > 0
}
