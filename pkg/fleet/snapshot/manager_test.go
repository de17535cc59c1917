package snapshot

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

// elected returns the lease of a leader that leads since this time.
func elected(namespace, policy string, since time.Time) *coordinationv1.Lease {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: names.AddonManager}}
	if policy != "" {
		lease.Annotations = map[string]string{names.OfflinePolicy: policy}
	}
	acquired := metav1.NewMicroTime(since)
	lease.Spec.AcquireTime, lease.Spec.RenewTime = &acquired, &acquired
	return lease
}

func TestReadManagerReadsPolicy(t *testing.T) {
	now := fixture.Now.Time
	for name, test := range map[string]struct {
		leases  []client.Object
		failure error
		want    evaluation.OfflinePolicy
		unread  string
	}{
		"hold":   {leases: []client.Object{elected("a", "hold", now)}, want: evaluation.OfflineHold},
		"strict": {leases: []client.Object{elected("a", "strict", now)}, want: evaluation.OfflineStrict},
		"a former leader": {
			leases: []client.Object{elected("a", "strict", now), elected("b", "hold", now.Add(-time.Hour))}, want: evaluation.OfflineStrict,
		},
		"no leader": {want: evaluation.OfflineHold, unread: "there is no lease of its leader"},
		"an older addon-manager": {
			leases: []client.Object{elected("a", "", now)}, want: evaluation.OfflineHold, unread: "has no annotation " + names.OfflinePolicy,
		},
		"a newer addon-manager": {leases: []client.Object{elected("a", "later", now)}, want: evaluation.OfflineHold, unread: `is "later"`},
		"a missing right": {
			failure: errors.New("leases is forbidden"), want: evaluation.OfflineHold, unread: "cannot be read: leases is forbidden",
		},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := coordinationv1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(test.leases...).
				WithIndex(&coordinationv1.Lease{}, "metadata.name", func(object client.Object) []string { return []string{object.GetName()} }).
				WithInterceptorFuncs(interceptor.Funcs{
					List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
						if test.failure != nil {
							return test.failure
						}
						return hub.List(ctx, list, options...)
					},
				}).Build()
			content := Content{Manager: readManager(t.Context(), hub, time.Now())}
			if content.Policy() != test.want {
				t.Errorf("the policy is %q", content.Policy())
			}
			if test.unread == "" && content.Manager.Unread != "" || !strings.Contains(content.Manager.Unread, test.unread) {
				t.Errorf("unread because %q", content.Manager.Unread)
			}
			if test.unread == "" && !content.Manager.Leads.Equal(now) {
				t.Errorf("leads since %s", content.Manager.Leads)
			}
		})
	}
	if policy := new(Content).Policy(); policy != evaluation.OfflineHold {
		t.Errorf("policy of a file of an earlier version: %q", policy)
	}
}
