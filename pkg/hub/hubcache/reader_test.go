package hubcache

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"open-cluster-management.io/interlock/pkg/fleet"
)

var absent = types.NamespacedName{Namespace: "cluster1", Name: "absent"}

func hub(t *testing.T, objects ...client.Object) *fake.ClientBuilder {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...)
}

func TestAbsentObjectsAreNoError(t *testing.T) {
	reader := NewReader(hub(t).Build())
	if addOn, err := reader.AddOn(t.Context(), absent); addOn != nil || err != nil {
		t.Errorf("add-on %v, error %v", addOn, err)
	}
	if cluster, err := reader.Cluster(t.Context(), "absent"); cluster != nil || err != nil {
		t.Errorf("cluster %v, error %v", cluster, err)
	}
}

func TestErrorsNameTheKind(t *testing.T) {
	broken := errors.New("not synced")
	reader := NewReader(hub(t).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return broken
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return broken },
	}).Build())
	_, addOn := reader.AddOn(t.Context(), absent)
	_, cluster := reader.Cluster(t.Context(), "lost")
	_, registrationsErr := reader.AddOns(t.Context())
	_, onCluster := reader.OnCluster(t.Context(), "lost")
	for want, err := range map[string]error{
		"read managed cluster add-on cluster1/absent: not synced": addOn,
		"read managed cluster lost: not synced":                   cluster,
		"list registered add-ons: not synced":                     registrationsErr,
		"list managed cluster add-ons: not synced":                onCluster,
	} {
		if !errors.Is(err, broken) || err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
