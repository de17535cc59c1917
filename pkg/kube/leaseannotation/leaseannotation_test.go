package leaseannotation

import (
	"context"
	"maps"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var key = client.ObjectKey{Namespace: "interlock", Name: "leader"}

// written returns a hub with the lease. It counts updates, and the first updates fail with conflicts.
func written(conflicts int, updates *int) client.Client {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name, Annotations: map[string]string{"kept": "by another"},
	}}
	update := func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.UpdateOption) error {
		if *updates++; *updates <= conflicts {
			return apierrors.NewConflict(coordinationv1.Resource("leases"), key.Name, nil)
		}
		return hub.Update(ctx, object, options...)
	}
	return fake.NewClientBuilder().WithObjects(lease).WithInterceptorFuncs(interceptor.Funcs{Update: update}).Build()
}

func TestSet(t *testing.T) {
	updates := 0
	hub := written(2, &updates)
	for _, step := range []struct {
		value   string
		updates int
		reason  string
	}{
		{"hold", 3, "two conflicts are tried again"},
		{"hold", 3, "nothing changes"},
		{"strict", 4, "another value"},
		{"", 5, "it is removed"},
		{"", 5, "nothing is there"},
	} {
		if err := Set(t.Context(), hub, key, "policy", step.value); err != nil {
			t.Fatal(err)
		}
		got, err := Get(t.Context(), hub, key, "policy")
		if err != nil || got != step.value || updates != step.updates {
			t.Errorf("%q after %d updates, %v; want %q after %d: %s", got, updates, err, step.value, step.updates, step.reason)
		}
	}
	if other, err := Get(t.Context(), hub, key, "kept"); err != nil || other != "by another" {
		t.Errorf("the annotation of another writer is %q, %v", other, err)
	}
}

func TestSetFor(t *testing.T) {
	updates := 0
	hub := written(0, &updates)
	hold := func(holder string) {
		t.Helper()
		lease := &coordinationv1.Lease{}
		if err := hub.Get(t.Context(), key, lease); err != nil {
			t.Fatal(err)
		}
		lease.Spec.HolderIdentity = &holder
		if err := hub.Update(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		updates = 0
	}
	for _, holder := range []string{"first", "second", ""} {
		hold(holder)
		for range 2 {
			if err := SetFor(t.Context(), hub, key, func(holder string) map[string]string {
				return map[string]string{"policy": "hold", "acts": holder}
			}); err != nil {
				t.Fatal(err)
			}
		}
		lease := &coordinationv1.Lease{}
		if err := hub.Get(t.Context(), key, lease); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"kept": "by another", "policy": "hold", "acts": holder}
		if holder == "" {
			delete(want, "acts")
		}
		if !maps.Equal(lease.Annotations, want) || updates != 1 {
			t.Errorf("held by %q: %v after %d updates", holder, lease.Annotations, updates)
		}
	}
}

func TestWithoutLease(t *testing.T) {
	hub := fake.NewClientBuilder().Build()
	if err := Set(t.Context(), hub, key, "policy", "hold"); !apierrors.IsNotFound(err) {
		t.Errorf("set: %v", err)
	}
	if _, err := Get(t.Context(), hub, key, "policy"); !apierrors.IsNotFound(err) {
		t.Errorf("get: %v", err)
	}
}
