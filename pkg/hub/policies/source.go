package policies

import (
	"context"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// Source reads the policies of a hub from the cache. Until the cache is filled, it reads the API server.
// A hub with the CRDs of an earlier Interlock may lack the kind. Then it has no policies.
type Source struct {
	Cache client.Reader
	Live  client.Reader
	// Ready reports whether the cache is filled.
	Ready func() bool

	mutex sync.Mutex
	// first has the policies that were read from the API server.
	first *dependencyv1alpha1.AddOnDependencyPolicyList
}

// List returns all policies. They may be shared with the cache, and must not be changed.
func (s *Source) List(ctx context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	list := &dependencyv1alpha1.AddOnDependencyPolicyList{}
	switch {
	case s.Ready():
		if err := s.Cache.List(ctx, list); err != nil {
			return nil, fmt.Errorf("list AddOnDependencyPolicies: %w", err)
		}
		s.first = nil
	case s.first != nil:
		list = s.first
	default:
		err := s.Live.List(ctx, list)
		if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("list AddOnDependencyPolicies, which decide what counts of declared dependencies: %w", err)
		}
		s.first = list
	}
	return list.Items, nil
}
