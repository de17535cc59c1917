package conditionwriter

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// notConvertible is the error of an API server that cannot convert the object to the
// version in which another writer wrote it.
var notConvertible = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: ".spec.installNamespace: field not declared in schema",
}}

func TestApplyWithoutServerSideApply(t *testing.T) {
	changed := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Local())
	condition := func(kind, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: changed}
	}
	stored := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "leaf"}}
	stored.Status.Conditions = []metav1.Condition{
		condition("Registered", "Set"), condition("Degraded", "Before"), condition("Available", "Healthy"),
	}
	updated := []metav1.Condition{condition("Registered", "Set"), condition("Degraded", "After"), condition("Available", "Healthy")}

	for _, test := range []struct {
		name    string
		err     error
		written bool // by another writer, since the decision
		want    []metav1.Condition
		failed  func(error) bool
	}{
		{name: "only the condition changes", err: notConvertible, want: updated},
		{
			name: "no write after another writer", err: notConvertible, written: true,
			want: stored.Status.Conditions, failed: apierrors.IsConflict,
		},
		{
			name: "a conflict", err: apierrors.NewConflict(schema.GroupResource{Resource: "managedclusteraddons"}, "leaf", nil),
			want: stored.Status.Conditions, failed: apierrors.IsConflict,
		},
		{
			name: "no second request to an API server that is away", err: errors.New("connection refused"),
			want: stored.Status.Conditions, failed: func(err error) bool { return err != nil },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := addonv1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored.DeepCopy()).WithStatusSubresource(stored).
				WithInterceptorFuncs(interceptor.Funcs{
					SubResourceApply: func(context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
						return test.err
					},
				}).Build()
			read := func() *addonv1alpha1.ManagedClusterAddOn {
				addOn := &addonv1alpha1.ManagedClusterAddOn{}
				if err := hub.Get(t.Context(), client.ObjectKeyFromObject(stored), addOn); err != nil {
					t.Fatal(err)
				}
				return addOn
			}
			lean := read()
			lean.Status.Conditions = nil
			if test.written {
				current := read()
				current.Labels = map[string]string{"a": "b"}
				if err := hub.Update(t.Context(), current); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Writer{Status: hub, Live: hub}.Apply(t.Context(), "owner", lean, condition("Degraded", "After"))
			if failed := test.failed != nil; failed != (err != nil) || failed && !test.failed(err) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(test.want, read().Status.Conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}
