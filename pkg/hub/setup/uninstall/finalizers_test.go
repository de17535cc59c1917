package uninstall

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func TestFinalizersAreRemoved(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	addOn := func(name string, finalizers ...string) *addonv1alpha1.ManagedClusterAddOn {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name, Finalizers: finalizers}}
	}
	leaving := addOn("leaving", addonv1alpha1.WaitForDependentsFinalizer)
	leaving.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time}
	var broken error
	hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		leaving, addOn("both", "example.com/theirs", addonv1alpha1.WaitForDependentsFinalizer),
		addOn("theirs", "example.com/theirs"), addOn("none"),
	).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if broken != nil {
				return broken
			}
			return c.Patch(ctx, object, patch, options...)
		},
	}).Build()
	u := &uninstallation{hub: hub, options: Options{Out: &bytes.Buffer{}}}
	broken = errors.New("away")
	if _, err := u.removeFinalizers(t.Context()); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	broken = nil
	summary, err := u.removeFinalizers(t.Context())
	if err != nil || summary != "2 removed, none is left on any of 3 ManagedClusterAddOns" {
		t.Errorf("%q, %v", summary, err)
	}
	if err := hub.Get(t.Context(), client.ObjectKeyFromObject(leaving), leaving); !apierrors.IsNotFound(err) {
		t.Errorf("what was being deleted is not gone: %v", err)
	}
	waiting := addOn("both")
	err = hub.Get(t.Context(), client.ObjectKeyFromObject(waiting), waiting)
	if err != nil || !slices.Equal(waiting.Finalizers, []string{"example.com/theirs"}) {
		t.Errorf("%v, %v", waiting.Finalizers, err)
	}
}
