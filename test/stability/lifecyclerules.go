package stability

import "sync"

// lifecycleRules are all components that decide in worlds of a lifecycle. All worlds share each decision.
type lifecycleRules struct {
	interlock *interlock
	manager   *manager
	admission *admission

	mutex    sync.Mutex
	hubs     map[Inputs]hub
	outcomes map[outcomeKey]reconciliation
	updates  map[updateKey]bool
	admitted map[admissionKey]object
}

// newLifecycleRules returns Interlock with its real rules.
func newLifecycleRules(i *interlock) (*lifecycleRules, error) {
	admission, err := newAdmission()
	return rulesOf(i, newManager(), admission), err
}

func rulesOf(i *interlock, manager *manager, admission *admission) *lifecycleRules {
	return &lifecycleRules{
		interlock: i, manager: manager, admission: admission, hubs: map[Inputs]hub{},
		outcomes: map[outcomeKey]reconciliation{}, updates: map[updateKey]bool{}, admitted: map[admissionKey]object{},
	}
}

func (m *lifecycleRules) hub(inputs Inputs) hub {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return cachedResult(m.hubs, inputs, func() hub { return newHub(inputs) })
}

// cachedResult returns the result for a key. It computes each result once.
func cachedResult[K comparable, V any](results map[K]V, key K, compute func() V) V {
	result, ok := results[key]
	if !ok {
		result = compute()
		results[key] = result
	}
	return result
}

// sharedResult returns the result for a key. All worlds share it.
func sharedResult[K comparable, V any](rules *lifecycleRules, results map[K]V, key K, compute func(K) (V, error)) V {
	rules.mutex.Lock()
	result, ok := results[key]
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
	results[key] = result
	return result
}
