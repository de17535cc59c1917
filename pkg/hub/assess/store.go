package assess

import (
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// maxShared is the number of different assessments of one add-on that its managed clusters share.
const maxShared = 8

// Change is the result of a new assessment, or of the deletion of an add-on.
type Change struct {
	AddOn types.NamespacedName
	// Evaluator has the catalog of the assessment. It is nil if the add-on was deleted.
	Evaluator *evaluation.Evaluator
	// Before and After are shared, so subscribers must not change them. After is nil if the add-on was deleted.
	Before, After *outcome.Assessment
}

// Differs reports whether the assessment differs from the last assessment.
func (c Change) Differs() bool {
	return c.Before != c.After && (c.Before == nil || c.After == nil || !reflect.DeepEqual(c.Before, c.After))
}

// Findings returns the findings of the new assessment. It returns nil for a deleted add-on.
func (c Change) Findings() []evaluation.Finding {
	if c.After == nil {
		return nil
	}
	return c.After.Findings
}

// Store has the last assessment of each add-on on each managed cluster. Clusters share equal assessments. It is safe for concurrent use.
type Store struct {
	subscribers []func(Change)

	mutex     sync.Mutex
	evaluator *evaluation.Evaluator
	last      map[types.NamespacedName]*outcome.Assessment
	// shared has assessments by the name of the add-on. All of them belong to evaluator. Others would keep an old catalog in memory.
	shared map[string][]*outcome.Assessment
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{last: map[types.NamespacedName]*outcome.Assessment{}, shared: map[string][]*outcome.Assessment{}}
}

// Subscribe registers a function that is called after each assessment, also without a difference, and after each deletion. It must be
// called before the first assessment. The function must not block.
func (s *Store) Subscribe(subscriber func(Change)) { s.subscribers = append(s.subscribers, subscriber) }

// Set replaces the assessment of an add-on.
func (s *Store) Set(addOn types.NamespacedName, evaluator *evaluation.Evaluator, assessment outcome.Assessment) Change {
	change := s.replace(addOn, evaluator, assessment)
	s.publish(change)
	return change
}

func (s *Store) publish(change Change) {
	for _, subscriber := range s.subscribers {
		subscriber(change)
	}
}

func (s *Store) replace(addOn types.NamespacedName, evaluator *evaluation.Evaluator, assessment outcome.Assessment) Change {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.evaluator != evaluator {
		s.evaluator = evaluator
		clear(s.shared)
	}
	change := Change{
		AddOn:     addOn,
		Evaluator: evaluator,
		Before:    s.last[addOn],
		After:     s.share(addOn.Name, assessment),
	}
	s.last[addOn] = change.After
	return change
}

// share returns an equal assessment of another managed cluster, or the assessment itself. A failing edge depends on conditions of its own
// cluster, so an assessment with a failing edge is not shared.
func (s *Store) share(addOn string, assessment outcome.Assessment) *outcome.Assessment {
	if assessment.Installing != nil || assessment.Upgrading != nil ||
		slices.ContainsFunc(assessment.Findings, evaluation.Finding.KeepsWaiting) {
		return &assessment
	}
	assessments := s.shared[addOn]
	if i := slices.IndexFunc(assessments, func(candidate *outcome.Assessment) bool { return reflect.DeepEqual(*candidate, assessment) }); i >= 0 {
		return assessments[i]
	}
	if len(assessments) == maxShared {
		assessments = slices.Delete(assessments, 0, 1) // the oldest is most likely stale
	}
	s.shared[addOn] = append(assessments, &assessment)
	return &assessment
}

// Last returns the last assessment of an add-on, or nil. It must not be changed.
func (s *Store) Last(addOn types.NamespacedName) *outcome.Assessment {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.last[addOn]
}

// Delete removes the assessment of an add-on that was deleted.
func (s *Store) Delete(addOn types.NamespacedName) {
	if previous := s.drop(addOn); previous != nil {
		s.publish(Change{AddOn: addOn, Before: previous})
	}
}

func (s *Store) drop(addOn types.NamespacedName) *outcome.Assessment {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	previous := s.last[addOn]
	delete(s.last, addOn)
	return previous
}
