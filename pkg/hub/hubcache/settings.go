package hubcache

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
)

// Settings has the outcome of the requests for settings, by add-on. It is safe for concurrent use.
type Settings struct {
	lifecycle bool

	mutex    sync.Mutex
	outcomes map[types.NamespacedName]settings.Outcome
}

// NewSettings returns an empty store. Without the lifecycle, nothing is set.
func NewSettings(lifecycle bool) *Settings {
	return &Settings{lifecycle: lifecycle, outcomes: map[types.NamespacedName]settings.Outcome{}}
}

// Outcome returns the outcome of the requests for the settings of an add-on.
func (s *Settings) Outcome(addOn types.NamespacedName) settings.Outcome {
	if !s.lifecycle {
		return settings.Outcome{}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if outcome, ok := s.outcomes[addOn]; ok {
		return outcome
	}
	return settings.Outcome{Obstacle: settings.Undecided}
}

// Set replaces the outcome for an add-on, and reports whether it has changed.
func (s *Settings) Set(addOn types.NamespacedName, outcome settings.Outcome) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	last, ok := s.outcomes[addOn]
	s.outcomes[addOn] = outcome
	return !ok || !last.Equal(outcome)
}

// Forget removes the outcome for an add-on.
func (s *Settings) Forget(addOn types.NamespacedName) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.outcomes, addOn)
}
