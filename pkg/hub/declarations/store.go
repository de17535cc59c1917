// Package declarations builds the catalog of what all add-ons of the hub declare,
// reports problems to authors, and enqueues the add-ons that a change concerns.
package declarations

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Store holds the current catalog.
type Store struct {
	current atomic.Pointer[evaluation.Evaluator]
	filled  chan struct{}
	fillOnce    sync.Once
}

// NewStore returns a store that is empty until the first Set.
func NewStore() *Store {
	return &Store{filled: make(chan struct{})}
}

// Wait returns the current catalog. Before the first one it waits: evaluating
// without it would take every add-on for one without dependencies.
func (s *Store) Wait(ctx context.Context) (*evaluation.Evaluator, error) {
	select {
	case <-s.filled:
		return s.current.Load(), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the declared dependencies: %w", ctx.Err())
	}
}

// Current returns the current catalog, nil before the first.
func (s *Store) Current() *evaluation.Evaluator {
	return s.current.Load()
}

// Set makes the catalog the current one.
func (s *Store) Set(catalog *evaluation.Evaluator) {
	s.current.Store(catalog)
	s.fillOnce.Do(func() { close(s.filled) })
}
