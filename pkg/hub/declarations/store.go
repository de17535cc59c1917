// Package declarations builds the catalog of the declared dependencies of all add-ons,
// reports problems to authors, and enqueues the add-ons that a change affects.
package declarations

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Store has the current catalog.
type Store struct {
	current  atomic.Pointer[evaluation.Evaluator]
	filled   chan struct{}
	fillOnce sync.Once
}

// NewStore returns a store that is empty until the first Set.
func NewStore() *Store {
	return &Store{filled: make(chan struct{})}
}

// Wait returns the evaluator of the current catalog. It waits for the first one: without a catalog, every
// add-on would be evaluated as if it had no dependencies.
func (s *Store) Wait(ctx context.Context) (*evaluation.Evaluator, error) {
	select {
	case <-s.filled:
		return s.current.Load(), nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the declared dependencies: %w", ctx.Err())
	}
}

// Current returns the current catalog. It is nil before the first catalog.
func (s *Store) Current() *evaluation.Evaluator {
	return s.current.Load()
}

// Set replaces the current catalog.
func (s *Store) Set(catalog *evaluation.Evaluator) {
	s.current.Store(catalog)
	s.fillOnce.Do(func() { close(s.filled) })
}
