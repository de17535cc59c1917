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

// Change is a new assessment of an add-on, or its end.
type Change struct {
	AddOn types.NamespacedName
	// Declared is what the assessment was made by; nil: the add-on was deleted.
	Declared *evaluation.Evaluator
	// Before and After are the assessments; nil: there is none. They are shared: they must not be changed.
	Before, After *status.Assessment
}

// Differs reports whether something else was found than before.
func (c Change) Differs() bool {
	return c.Before != c.After && (c.Before == nil || c.After == nil || !reflect.DeepEqual(c.Before, c.After))
}

// Findings are those on the edges of the add-on; none: it was deleted, or declares nothing.
func (c Change) Findings() []evaluation.Finding {
	if c.After == nil {
		return nil
	}
	return c.After.Findings
}

// Store has the last assessment of each add-on on each managed cluster. Equal ones are shared. It is safe for concurrent use.
type Store struct {
	subscribers []func(Change)

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

// Subscribe has a function called with each assessment that is stored, also with one that does not differ, and with each end of one.
// All subscribe before the first is stored. The function must not block.
func (s *Store) Subscribe(to func(Change)) { s.subscribers = append(s.subscribers, to) }

// Set replaces the assessment of an add-on.
func (s *Store) Set(addOn types.NamespacedName, declared *evaluation.Evaluator, found status.Assessment) Change {
	change := s.replace(addOn, declared, found)
	s.publish(change)
	return change
}

func (s *Store) publish(change Change) {
	for _, to := range s.subscribers {
		to(change)
	}
}

func (s *Store) replace(addOn types.NamespacedName, declared *evaluation.Evaluator, found status.Assessment) Change {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.declared != declared {
		s.declared = declared
		clear(s.shared)
	}
	change := Change{AddOn: addOn, Declared: declared, Before: s.of[addOn], After: s.share(addOn.Name, found)}
	s.of[addOn] = change.After
	return change
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

// Delete drops an add-on that was deleted.
func (s *Store) Delete(addOn types.NamespacedName) {
	if before := s.drop(addOn); before != nil {
		s.publish(Change{AddOn: addOn, Before: before})
	}
}

func (s *Store) drop(addOn types.NamespacedName) (before *status.Assessment) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before = s.of[addOn]
	delete(s.of, addOn)
	return before
}
