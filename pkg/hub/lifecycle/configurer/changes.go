package configurer

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// Changes finds the add-ons that a changed AddOnDeploymentConfig concerns. It is safe for concurrent use.
type Changes struct {
	// Changed triggers the controller of settings.
	Changed *trigger.Trigger

	mutex sync.Mutex
	// copies has the add-ons with a copy of an AddOnDeploymentConfig. sources has the copied one of each add-on.
	copies  map[types.NamespacedName]sets.Set[types.NamespacedName]
	sources map[types.NamespacedName]types.NamespacedName
}

// Config enqueues the add-ons that a changed AddOnDeploymentConfig concerns.
func (c *Changes) Config(config types.NamespacedName) {
	if addOn, ok := strings.CutPrefix(config.Name, addonv1alpha1.SettingsConfigPrefix); ok {
		c.Changed.Enqueue(types.NamespacedName{Namespace: config.Namespace, Name: addOn})
	}
	c.mutex.Lock()
	concerned := c.copies[config].UnsortedList()
	c.mutex.Unlock()
	c.Changed.Enqueue(concerned...)
}

// sourcesOf returns the keys of an add-on on the managed clusters where its AddOnDeploymentConfig is a copy.
func (c *Changes) sourcesOf(addOn string) sets.Set[types.NamespacedName] {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	keys := sets.New[types.NamespacedName]()
	for key := range c.sources {
		if key.Name == addOn {
			keys.Insert(key)
		}
	}
	return keys
}

// setDisplaced stores the AddOnDeploymentConfig that the add-on's own is a copy of. A zero key removes the entry.
func (c *Changes) setDisplaced(config, addOn types.NamespacedName) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	old, ok := c.sources[addOn]
	if ok && old == config {
		return
	}
	if ok {
		if c.copies[old].Delete(addOn); len(c.copies[old]) == 0 {
			delete(c.copies, old)
		}
		delete(c.sources, addOn)
	}
	if config == (types.NamespacedName{}) {
		return
	}
	if c.sources == nil {
		c.sources, c.copies = map[types.NamespacedName]types.NamespacedName{}, map[types.NamespacedName]sets.Set[types.NamespacedName]{}
	}
	if c.copies[config] == nil {
		c.copies[config] = sets.New[types.NamespacedName]()
	}
	c.copies[config].Insert(addOn)
	c.sources[addOn] = config
}
