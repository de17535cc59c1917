package assess

import (
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/status"
)

// maxShared is how many different assessments of one add-on are shared. Most of its clusters have one of a few.
const maxShared = 8

// Store has the last assessment of each add-on on each managed cluster. Equal ones are shared. It is safe for concurrent use.
type Store struct {
	mutex    sync.Mutex
	declared *evaluation.Evaluator
	of       map[types.NamespacedName]*status.Assessment
	// shared are assessments by the name of the add-on, all by the same catalog: one of another catalog would keep that in memory.
	shared map[string][]*status.Assessment
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{of: map[types.NamespacedName]*status.Assessment{}, shared: map[string][]*status.Assessment{}}
}

// Set replaces the assessment of an add-on, and reports whether it differs from the last one.
func (s *Store) Set(addOn types.NamespacedName, declared *evaluation.Evaluator, found status.Assessment) (changed bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.declared != declared {
		s.declared = declared
		clear(s.shared)
	}
	before := s.of[addOn]
	now := s.share(addOn.Name, found)
	s.of[addOn] = now
	return before == nil || before != now && !reflect.DeepEqual(before, now)
}

// share returns an equal assessment that others have, or this one. What fails rests on conditions of one managed cluster.
func (s *Store) share(addOn string, found status.Assessment) *status.Assessment {
	if found.Installing != nil || found.Upgrading != nil || slices.ContainsFunc(found.Findings, evaluation.Finding.KeepsWaiting) {
		return &found
	}
	all := s.shared[addOn]
	if at := slices.IndexFunc(all, func(one *status.Assessment) bool { return reflect.DeepEqual(*one, found) }); at >= 0 {
		return all[at]
	}
	if len(all) == maxShared {
		all = slices.Delete(all, 0, 1) // what was found first is most likely the past
	}
	s.shared[addOn] = append(all, &found)
	return &found
}

// Delete drops an add-on that was deleted, and reports whether there was an assessment of it.
func (s *Store) Delete(addOn types.NamespacedName) (existed bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	_, existed = s.of[addOn]
	delete(s.of, addOn)
	return existed
}
