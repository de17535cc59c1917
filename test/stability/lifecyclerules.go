package stability

import "sync"

// lifecycleRules are all components that decide in worlds of a lifecycle. All worlds share each decision.
type lifecycleRules struct {
	interlock *interlock
	manager   *manager
	admission *admission

	mutex    sync.Mutex
	hubs     map[Inputs]hub
	outcomes map[outcomeKey]reconciled
	updates  map[updateKey]bool
	admitted map[admissionKey]object
}

// newLifecycleRules returns Interlock as it is.
func newLifecycleRules(i *interlock) (*lifecycleRules, error) {
	through, err := newAdmission()
	return rulesOf(i, newManager(), through), err
}

func rulesOf(i *interlock, by *manager, through *admission) *lifecycleRules {
	return &lifecycleRules{
		interlock: i, manager: by, admission: through, hubs: map[Inputs]hub{},
		outcomes: map[outcomeKey]reconciled{}, updates: map[updateKey]bool{}, admitted: map[admissionKey]object{},
	}
}

func (m *lifecycleRules) hub(in Inputs) hub {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return once(m.hubs, in, func() hub { return newHub(in) })
}

// once returns the result for a key, which is computed once.
func once[K comparable, V any](all map[K]V, key K, compute func() V) V {
	result, ok := all[key]
	if !ok {
		result = compute()
		all[key] = result
	}
	return result
}

// shared returns the result for a key that all worlds share.
func shared[K comparable, V any](rules *lifecycleRules, all map[K]V, key K, compute func(K) (V, error)) V {
	rules.mutex.Lock()
	result, ok := all[key]
	rules.mutex.Unlock()
	if ok {
		return result
	}
	result, err := compute(key)
	if err != nil {
		panic(err)
	}
	rules.mutex.Lock()
	defer rules.mutex.Unlock()
	all[key] = result
	return result
}
