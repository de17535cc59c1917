package condition

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

// notConvertible is what an API server says that cannot convert the object to
// the version that another writer wrote in.
var notConvertible = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: ".spec.installNamespace: field not declared in schema",
}}

func TestApplyWhereServerSideApplyCannot(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Local())
	of := func(kind, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: at}
	}
	stored := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "leaf"}}
	stored.Status.Conditions = []metav1.Condition{of("Registered", "Set"), of("Degraded", "Before"), of("Available", "Healthy")}
	after := []metav1.Condition{of("Registered", "Set"), of("Degraded", "After"), of("Available", "Healthy")}

	for _, test := range []struct {
		name    string
		answer  error
		written bool // by somebody else, since the decision
		want    []metav1.Condition
		failed  func(error) bool
	}{
		{name: "the one condition changes, the others stay", answer: notConvertible, want: after},
		{
			name: "no decision on what is no longer so", answer: notConvertible, written: true,
			want: stored.Status.Conditions, failed: apierrors.IsConflict,
		},
		{
			name: "a conflict is one", answer: apierrors.NewConflict(schema.GroupResource{Resource: "managedclusteraddons"}, "leaf", nil),
			want: stored.Status.Conditions, failed: apierrors.IsConflict,
		},
		{
			name: "an API server that is away is not asked twice", answer: errors.New("connection refused"),
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
						return test.answer
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
				other := read()
				other.Labels = map[string]string{"a": "b"}
				if err := hub.Update(t.Context(), other); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Writer{Status: hub, Live: hub}.Apply(t.Context(), "owner", lean, of("Degraded", "After"))
			if failed := test.failed != nil; failed != (err != nil) || failed && !test.failed(err) {
				t.Errorf("answer %v", err)
			}
			if diff := cmp.Diff(test.want, read().Status.Conditions); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}
