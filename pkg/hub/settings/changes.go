package settings

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// Changes finds the add-ons that a changed AddOnDeploymentConfig concerns. It is safe for concurrent use.
type Changes struct {
	// Changed triggers the controller of settings.
	Changed *trigger.Trigger

	mutex sync.Mutex
	// copies has the add-ons with a copy of an AddOnDeploymentConfig. sources has the copied one of each add-on.
	copied map[types.NamespacedName]sets.Set[types.NamespacedName]
	of     map[types.NamespacedName]types.NamespacedName
}

// Config enqueues the add-ons that a changed AddOnDeploymentConfig concerns.
func (c *Changes) Config(config types.NamespacedName) {
	if addOn, kept := strings.CutPrefix(config.Name, addonv1alpha1.SettingsConfigPrefix); kept {
		c.Changed.Enqueue(types.NamespacedName{Namespace: config.Namespace, Name: addOn})
	}
	c.mutex.Lock()
	concerned := c.copied[config].UnsortedList()
	c.mutex.Unlock()
	c.Changed.Enqueue(concerned...)
}

// setDisplaced stores the AddOnDeploymentConfig that the add-on's own is a copy of. A zero key removes the entry.
func (c *Changes) displaces(config, addOn types.NamespacedName) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	before, known := c.of[addOn]
	if known && before == config {
		return
	}
	if known {
		if c.copied[before].Delete(addOn); len(c.copied[before]) == 0 {
			delete(c.copied, before)
		}
		delete(c.of, addOn)
	}
	if config == (types.NamespacedName{}) {
		return
	}
	if c.of == nil {
		c.of, c.copied = map[types.NamespacedName]types.NamespacedName{}, map[types.NamespacedName]sets.Set[types.NamespacedName]{}
	}
	if c.copied[config] == nil {
		c.copied[config] = sets.New[types.NamespacedName]()
	}
	c.copied[config].Insert(addOn)
	c.of[addOn] = config
}
