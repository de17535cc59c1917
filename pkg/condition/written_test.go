package condition

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func TestWritten(t *testing.T) {
	key, other := types.NamespacedName{Namespace: "cluster1", Name: "leaf"}, types.NamespacedName{Namespace: "cluster2", Name: "leaf"}
	written := NewWritten()
	written.Record(key, "1", "2")
	written.Record(key, "2", "4")
	written.Record(key, "5", "5")
	for version, want := range map[string]bool{"1": true, "2": true, "3": false, "4": false, "5": false, "": false} {
		if got := written.Outdated(key, version); got != want {
			t.Errorf("version %q is outdated: %t", version, got)
		}
	}
	if written.Outdated(other, "1") {
		t.Error("an object on another cluster is outdated")
	}
	var none *Written
	if none.Record(key, "1", "2"); none.Outdated(key, "1") {
		t.Error("nil remembers something")
	}
}

// What the cache has not seen costs no request, and is decided again.
func TestWhatACacheHasNotSeenIsAConflict(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	requests := 0
	hub := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		SubResourceApply: func(
			_ context.Context, _ client.Client, _ string, of runtime.ApplyConfiguration, _ ...client.SubResourceApplyOption,
		) error {
			requests++
			of.(interface{ SetResourceVersion(version string) }).SetResourceVersion("2")
			return nil
		},
	}).Build()
	writer := Writer{Status: hub, Live: hub, Written: NewWritten()}
	cached := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "leaf", ResourceVersion: "1"}}
	now, err := writer.Apply(t.Context(), "owner", cached, metav1.Condition{Type: "Degraded"})
	if err != nil || now != "2" {
		t.Fatalf("%q, %v", now, err)
	}
	installable := metav1.Condition{Type: "Installable"}
	if _, err := writer.Apply(t.Context(), "another", cached, installable); !apierrors.IsConflict(err) || requests != 1 {
		t.Errorf("%v, %d requests", err, requests)
	}
	cached.ResourceVersion = "2"
	if _, err := writer.Apply(t.Context(), "another", cached, installable); err != nil || requests != 2 {
		t.Errorf("%v, %d requests", err, requests)
	}
}
