package policies

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// having returns a reader with policies, or with an error. It counts its lists.
func having(t *testing.T, failure *error, lists *int, names ...string) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := dependencyv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme)
	for _, name := range names {
		policy := fixture.Policy(t, name, "{}")
		builder.WithObjects(&policy)
	}
	return interceptor.NewClient(builder.Build(), interceptor.Funcs{
		List: func(ctx context.Context, reader client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			*lists++
			if *failure != nil {
				return *failure
			}
			return reader.List(ctx, list, options...)
		},
	})
}

// Before the cache is filled, the policies are read once. A failed read does not count as a hub without policies.
func TestSource(t *testing.T) {
	var failure, noFailure error
	var live, cached int
	ready := false
	source := &Source{
		Cache: having(t, &noFailure, &cached, "new", "old"), Live: having(t, &failure, &live, "old"), Ready: func() bool { return ready },
	}
	list := func(step string, want int, fails bool) {
		t.Helper()
		policies, err := source.List(t.Context())
		if len(policies) != want || (err != nil) != fails {
			t.Errorf("%s: %d policies, error %v", step, len(policies), err)
		}
	}
	failure = errors.New("forbidden")
	list("it may not be read", 0, true)
	failure = nil
	list("it may", 1, false)
	failure = errors.New("the hub is away")
	list("once is enough", 1, false)
	if live != 2 || cached != 0 {
		t.Errorf("%d lists from the hub, %d from the cache", live, cached)
	}
	ready = true
	list("the cache is filled", 2, false)
	if live != 2 || cached != 1 {
		t.Errorf("%d lists from the hub, %d from the cache", live, cached)
	}
}

// A hub with the CRDs of an earlier Interlock has no policies.
func TestSourceWithoutTheCRD(t *testing.T) {
	var missing error = &meta.NoKindMatchError{GroupKind: dependencyv1alpha1.PolicyKind.GroupKind()}
	var lists int
	source := &Source{Live: having(t, &missing, &lists), Ready: func() bool { return false }}
	if policies, err := source.List(t.Context()); len(policies) > 0 || err != nil {
		t.Errorf("%d policies, error %v", len(policies), err)
	}
}
