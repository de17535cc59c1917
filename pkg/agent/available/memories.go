package available

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/availability"
)

// memories has, by add-on, what the last decision left for the next one. A restart
// empties it: each finding is then asserted once more, and each health check that has
// not reported is awaited anew. The zero value is ready to use.
type memories struct {
	mutex   sync.Mutex
	byAddOn map[types.NamespacedName]availability.Memory
}

func (m *memories) of(addOn types.NamespacedName) availability.Memory {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return m.byAddOn[addOn]
}

// remember replaces what is known of the add-on; an empty memory deletes it.
func (m *memories) remember(addOn types.NamespacedName, memory availability.Memory) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if memory == (availability.Memory{}) {
		delete(m.byAddOn, addOn)
		return
	}
	if m.byAddOn == nil {
		m.byAddOn = map[types.NamespacedName]availability.Memory{}
	}
	m.byAddOn[addOn] = memory
}
