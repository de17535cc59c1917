package follow

import (
	"context"
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
)

func scheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	types := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(fleet.AddToScheme, clusterv1beta1.Install)
	if err := builder.AddToScheme(types); err != nil {
		t.Fatal(err)
	}
	return types
}

// TestListsThatAreNotServedAreLeftOut tests a hub without the CRDs of Interlock.
func TestListsThatAreNotServedAreLeftOut(t *testing.T) {
	refused := error(apierrors.NewNotFound(dependencyv1alpha1.GroupVersion.WithResource("any").GroupResource(), ""))
	hub := fake.NewClientBuilder().WithScheme(scheme(t)).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			switch list.(type) {
			case *dependencyv1alpha1.AddOnDependencyPolicyList, *dependencyv1alpha1.AddOnInstallationList,
				*dependencyv1alpha1.ManagedClusterFactsList:
				return refused
			}
			return hub.List(ctx, list, options...)
		},
	}).Build()
	lists, err := ServedLists(t.Context(), hub)
	if err != nil || len(lists) != len(always())+len(optional())-3 {
		t.Errorf("%d lists, %v", len(lists), err)
	}
	refused = apierrors.NewForbidden(dependencyv1alpha1.GroupVersion.WithResource("any").GroupResource(), "", nil)
	if _, err := ServedLists(t.Context(), hub); !apierrors.IsForbidden(err) {
		t.Errorf("a missing right is no error: %v", err)
	}
}

// TestWatchedListHasItsNamespaces tests that a list of a namespace comes from the watch of all namespaces.
func TestWatchedListHasItsNamespaces(t *testing.T) {
	reads, placed := 0, 0
	builder := fake.NewClientBuilder().WithScheme(scheme(t)).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			reads++
			return hub.List(ctx, list, options...)
		},
	})
	for _, namespace := range []string{"a", "b", "b"} {
		name := fmt.Sprint("p", placed)
		builder = builder.WithObjects(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
		placed++
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	watched, err := Start(ctx, listing{builder.Build()}, []Watched{{List: &clusterv1beta1.PlacementList{}}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	watched.Placements = true
	first := reads
	for namespace, want := range map[string]int{"": 3, "a": 1, "b": 2, "c": 0} {
		placements := &clusterv1beta1.PlacementList{}
		if err := watched.List(ctx, placements, client.InNamespace(namespace)); err != nil || len(placements.Items) != want {
			t.Errorf("namespace %q has %d, want %d; %v", namespace, len(placements.Items), want, err)
		}
	}
	if reads != first {
		t.Errorf("%d lists of the hub after the first", reads-first)
	}
}
