// Package declarations builds the catalog of what all add-ons of the hub declare,
// reports problems to authors, and enqueues the add-ons that a change concerns.
package declarations

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Store holds the current catalog.
type Store struct {
	current atomic.Pointer[evaluation.Evaluator]
	filled  chan struct{}
	once    sync.Once
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
	s.once.Do(func() { close(s.filled) })
}

// UpToDate reports whether a catalog has what an add-on declares at this moment. Different watches fill the caches of registrations and
// of add-ons, and some acts cannot be undone.
func UpToDate(ctx context.Context, live client.Reader, declared *evaluation.Evaluator, addOn string) (bool, error) {
	registered := &addonv1alpha1.ClusterManagementAddOn{}
	err := live.Get(ctx, client.ObjectKey{Name: addOn}, registered)
	if apierrors.IsNotFound(err) {
		return !declared.Registered(addOn), nil
	}
	if err != nil {
		return false, fmt.Errorf("read what add-on %s declares: %w", addOn, err)
	}
	return declared.Has(registered), nil
}
