package configurer

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// gather is the time for which changes are collected before settings are written.
const gather = time.Second

// RequestStore has the settings that add-ons request for others on their managed clusters, by their last evaluation. It is
// safe for concurrent use.
type RequestStore struct {
	// Changed triggers the controller of settings.
	Changed *trigger.Trigger

	mutex sync.Mutex
	// requests has the requests by managed cluster and dependent.
	requests map[string]map[string]requests
}

// requests are the settings that a dependent requests, by add-on.
type requests struct {
	byAddOn map[string][]settings.Variable
	// held has the add-ons with unknown requests. unknown is true if all requests are unknown.
	held    sets.Set[string]
	unknown bool
}

// Update stores the requests in the findings of an add-on. Without findings, it has no requests. Unknown requests do not change.
func (s *RequestStore) Update(addOn types.NamespacedName, findings []evaluation.Finding) {
	for name := range s.remember(addOn, requestsIn(findings)) {
		s.Changed.EnqueueAfter(gather, types.NamespacedName{Namespace: addOn.Namespace, Name: name})
	}
}

// remember returns the add-ons on the managed cluster whose settings may change.
func (s *RequestStore) remember(addOn types.NamespacedName, current requests) sets.Set[string] {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	old := s.requests[addOn.Namespace][addOn.Name]
	if current.unknown {
		current.byAddOn, current.held = old.byAddOn, old.held
	}
	for name := range current.held {
		if previous := old.byAddOn[name]; previous != nil {
			current.byAddOn[name] = previous
		}
	}
	if reflect.DeepEqual(old, current) {
		return nil
	}
	concerned := sets.KeySet(old.byAddOn).Union(sets.KeySet(current.byAddOn)).Union(old.held)
	if old.unknown && !current.unknown {
		concerned = concerned.Union(s.requested(addOn.Namespace))
	}
	s.set(addOn, current)
	return concerned
}

// requested returns the add-ons on a managed cluster for which there are requests.
func (s *RequestStore) requested(cluster string) sets.Set[string] {
	addOns := sets.New[string]()
	for _, current := range s.requests[cluster] {
		addOns = addOns.Union(sets.KeySet(current.byAddOn))
	}
	return addOns
}

// requestedOf returns the keys of an add-on on the managed clusters where there are requests for it.
func (s *RequestStore) requestedOf(addOn string) sets.Set[types.NamespacedName] {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	keys := sets.New[types.NamespacedName]()
	for cluster, dependents := range s.requests {
		for _, current := range dependents {
			if _, ok := current.byAddOn[addOn]; ok {
				keys.Insert(types.NamespacedName{Namespace: cluster, Name: addOn})
			}
		}
	}
	return keys
}

func (s *RequestStore) set(addOn types.NamespacedName, current requests) {
	if len(current.byAddOn) == 0 && len(current.held) == 0 && !current.unknown {
		delete(s.requests[addOn.Namespace], addOn.Name)
		if len(s.requests[addOn.Namespace]) == 0 {
			delete(s.requests, addOn.Namespace)
		}
		return
	}
	if s.requests == nil {
		s.requests = map[string]map[string]requests{}
	}
	if s.requests[addOn.Namespace] == nil {
		s.requests[addOn.Namespace] = map[string]requests{}
	}
	s.requests[addOn.Namespace][addOn.Name] = current
}

// requestsIn returns the requests in the findings of an add-on. Requests of held edges are unknown.
func requestsIn(findings []evaluation.Finding) requests {
	var result requests
	for i := range findings {
		finding := &findings[i]
		if finding.Dependency == nil {
			result.unknown = result.unknown || finding.Requirement == nil // the declaration of the add-on is unknown
			continue
		}
		if finding.Dependency.Settings == nil {
			continue
		}
		if result.byAddOn == nil {
			result.byAddOn, result.held = map[string][]settings.Variable{}, sets.New[string]()
		}
		target := declaration.Target(finding.Dependency)
		variables, ok := finding.Settings()
		switch {
		case !ok, finding.Verdict == evaluation.Held && variables == nil:
			result.held.Insert(target)
		case len(variables) > 0: // otherwise, the edge does not apply, or is waived
			result.byAddOn[target] = append(result.byAddOn[target], variables...)
		}
	}
	return result
}

// Get returns the requests for an add-on on a managed cluster, ordered by dependent. ok is false if the requests of a
// dependent are unknown. complete is false if another add-on there may be a dependent, because its declaration is unknown.
func (s *RequestStore) Get(addOn types.NamespacedName) (list []settings.Request, ok, complete bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	ok, complete = true, true
	dependents := s.requests[addOn.Namespace]
	for _, name := range slices.Sorted(maps.Keys(dependents)) {
		requested := dependents[name]
		ok, complete = ok && !requested.held.Has(addOn.Name), complete && !requested.unknown
		if variables := requested.byAddOn[addOn.Name]; len(variables) > 0 {
			list = append(list, settings.Request{Dependent: name, Variables: variables})
		}
	}
	return list, ok, complete
}
