package uninstall

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"open-cluster-management.io/interlock/pkg/names"
)

func TestAHubWithoutOCMHasNoConditions(t *testing.T) {
	hub := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "ManagedClusterAddOn"}}
		},
	}).Build()
	summary, err := (&uninstallation{hub: hub, options: Options{Out: &bytes.Buffer{}}}).removeConditions(t.Context())
	if err != nil || summary != "0 ManagedClusterAddOns written, no condition of Interlock is left on any of 0" {
		t.Errorf("%q, %v", summary, err)
	}
}

func TestAMissingNamespaceHasNoLeader(t *testing.T) {
	terminating := apierrors.NewForbidden(coordinationv1.Resource("leases"), names.AddonManager, errors.New("namespace is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, refusal := range map[string]error{
		"deleted":       apierrors.NewNotFound(corev1.Resource("namespaces"), "interlock-system"),
		"being deleted": terminating,
	} {
		t.Run(name, func(t *testing.T) {
			u := uninstallationOf(fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return refusal },
			}).Build())
			summary, err := u.stop(t.Context())
			if err != nil || !strings.HasPrefix(summary, "there is no Deployment interlock-system/interlock-addon-manager") {
				t.Errorf("%q, %v", summary, err)
			}
			if summary, err := u.releaseLease(t.Context()); err != nil || summary != "was not taken" {
				t.Errorf("%q, %v", summary, err)
			}
		})
	}
}

// A lease that stayed would keep the next addon-manager from leading.
func TestTheLeaseIsGivenBackWhenTheTimeIsOver(t *testing.T) {
	hub := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return c.Delete(ctx, object, options...)
		},
	}).Build()
	u := uninstallationOf(hub)
	if _, err := u.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	if summary, err := u.releaseLease(expired); err != nil || summary != "deleted" {
		t.Errorf("%q, %v", summary, err)
	}
}

func TestALeaderThatDoesNotStopIsNamed(t *testing.T) {
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "interlock-system", Name: names.AddonManager},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("laptop_1"), RenewTime: &metav1.MicroTime{Time: time.Now()}, LeaseDurationSeconds: ptr.To(int32(3600)),
		},
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := uninstallationOf(fake.NewClientBuilder().WithObjects(lease).Build()).stop(ctx)
	if err == nil || !strings.Contains(err.Error(), "laptop_1 still leads by the lease interlock-system/interlock-addon-manager") {
		t.Errorf("error %v", err)
	}
}

// Another writer may write between the list and the patch. It is an error only if
// that never ends.
func TestAConflictIsRepeated(t *testing.T) {
	for name, test := range map[string]struct {
		conflicts int
		want      string
	}{
		"once":      {1, ""},
		"each time": {1000, "other writers keep changing"},
	} {
		t.Run(name, func(t *testing.T) {
			patched := 0
			hub := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
					list.(*unstructured.UnstructuredList).Items = []unstructured.Unstructured{degraded()}
					if patched > test.conflicts {
						list.(*unstructured.UnstructuredList).Items = nil
					}
					return nil
				},
				SubResourcePatch: func(_ context.Context, _ client.Client, _ string, object client.Object,
					_ client.Patch, _ ...client.SubResourcePatchOption,
				) error {
					object.SetResourceVersion("2")
					if patched++; patched > test.conflicts {
						return nil
					}
					return apierrors.NewConflict(schema.GroupResource{Resource: "managedclusteraddons"}, "gateway", nil)
				},
			}).Build()
			summary, err := (&uninstallation{hub: hub, options: Options{Out: &bytes.Buffer{}}}).removeConditions(t.Context())
			if test.want == "" &&
				(err != nil || summary != "1 ManagedClusterAddOns written, no condition of Interlock is left on any of 0") {
				t.Errorf("%q, %v", summary, err)
			}
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%q, %v", summary, err)
			}
		})
	}
}

func degraded() unstructured.Unstructured {
	return unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "addon.open-cluster-management.io/v1alpha1", "kind": "ManagedClusterAddOn",
		"metadata": map[string]any{"namespace": "cluster1", "name": "gateway", "resourceVersion": "1"},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Degraded", "status": "True", "reason": "RequiredDependencyNotSatisfied"},
		}},
	}}
}

func uninstallationOf(hub client.Client) *uninstallation {
	return &uninstallation{clock: clock.RealClock{}, hub: hub, options: Options{
		Namespace: "interlock-system", LeaseNamespace: "interlock-system", Timeout: time.Minute,
	}}
}
