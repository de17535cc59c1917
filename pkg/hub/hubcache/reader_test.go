package hubcache

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var absent = types.NamespacedName{Namespace: "cluster1", Name: "absent"}

func hub(t *testing.T, objects ...client.Object) *fake.ClientBuilder {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...)
}

func TestWhatIsAbsentIsNoError(t *testing.T) {
	reader := Reader{hub(t).Build()}
	if addOn, err := reader.AddOn(t.Context(), absent); addOn != nil || err != nil {
		t.Errorf("add-on %v, error %v", addOn, err)
	}
	if seen, err := reader.Observe(t.Context(), absent); seen.Installed || seen.Available != nil || err != nil {
		t.Errorf("observed %v, error %v", seen, err)
	}
	if status, err := reader.Cluster(t.Context(), "absent"); status != nil || err != nil {
		t.Errorf("status %v, error %v", status, err)
	}
}

func TestErrorsNameWhatWasRead(t *testing.T) {
	broken := errors.New("not synced")
	reader := Reader{hub(t).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return broken
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return broken },
	}).Build()}
	_, addOn := reader.AddOn(t.Context(), absent)
	_, observed := reader.Observe(t.Context(), absent)
	_, cluster := reader.Cluster(t.Context(), "lost")
	_, registered := reader.AddOns(t.Context())
	_, onCluster := reader.OnCluster(t.Context(), "lost")
	for want, err := range map[string]error{
		"read managed cluster add-on cluster1/absent: not synced": addOn,
		"read managed cluster lost: not synced":                   cluster,
		"list registered add-ons: not synced":                     registered,
		"list managed cluster add-ons: not synced":                onCluster,
	} {
		if !errors.Is(err, broken) || err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if !errors.Is(observed, broken) {
		t.Errorf("observing: %v", observed)
	}
}

func TestClusterStatus(t *testing.T) {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}
	if got := ClusterStatus(cluster); got != "" {
		t.Errorf("without the condition: %q", got)
	}
	cluster.Status.Conditions = []metav1.Condition{
		{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown},
	}
	reader := Reader{hub(t, cluster).Build()}
	if got, err := reader.Cluster(t.Context(), "cluster1"); got == nil || Describe(got, 0).Available != metav1.ConditionUnknown || err != nil {
		t.Errorf("cluster %v, error %v", got, err)
	}
}
