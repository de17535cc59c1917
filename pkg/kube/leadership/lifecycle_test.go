package leadership

import (
	"context"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"open-cluster-management.io/interlock/pkg/names"
)

func TestLifecycle(t *testing.T) {
	now, key := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), client.ObjectKey{Namespace: "interlock-system", Name: names.AddonManager}
	busy := errors.New("the hub is busy")
	lease := func(holder, annotation string, renewed time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: key.Name, Annotations: map[string]string{names.LifecycleLeader: annotation},
			},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &holder, RenewTime: microTime(now.Add(-renewed)), LeaseDurationSeconds: ptr.To(int32(15)),
			},
		}
	}
	for name, test := range map[string]struct {
		lease   *coordinationv1.Lease
		failure error
		want    error
	}{
		"runs it":                       {lease("pod-1", "pod-1", time.Second), nil, nil},
		"does not run it":               {lease("pod-1", "", time.Second), nil, ErrNoLifecycle},
		"annotation of a former leader": {lease("pod-2", "pod-1", time.Second), nil, ErrNoLifecycle},
		"has died":                      {lease("pod-1", "pod-1", time.Minute), nil, ErrNoLifecycle},
		"has released the lease":        {lease("", "pod-1", time.Second), nil, ErrNoLifecycle},
		"released, and never marked it": {lease("", "", time.Second), nil, ErrNoLifecycle},
		"is an uninstallation":          {lease(Uninstalling, Uninstalling, time.Second), nil, ErrNoLifecycle},
		"does not exist":                {nil, nil, ErrNoLifecycle},
		"cannot be read":                {lease("pod-1", "pod-1", time.Second), busy, busy},
	} {
		t.Run(name, func(t *testing.T) {
			hub := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					if test.failure != nil {
						return test.failure
					}
					return c.Get(ctx, key, object, options...)
				},
			})
			if test.lease != nil {
				hub.WithObjects(test.lease)
			}
			err := Lifecycle{Live: hub.Build(), Lease: key, Clock: clocktesting.NewFakePassiveClock(now)}.Require(t.Context())
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}
