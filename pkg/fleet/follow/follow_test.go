package follow

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// listing is a fake hub that cannot list by watching.
type listing struct{ client.WithWatch }

// IsWatchListSemanticsUnSupported implements the check of client-go.
func (listing) IsWatchListSemanticsUnSupported() bool { return true }

// TestRepeatedFailuresOfListEndWatch tests that a verb ends if the hub no longer responds, because its output must show that.
func TestRepeatedFailuresOfListEndWatch(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	away := errors.New("connection refused")
	hub := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return away },
	}).Build()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err := Start(ctx, listing{hub}, []Watched{{List: &addonv1alpha1.ManagedClusterAddOnList{}}}, 2)
	if !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
}
