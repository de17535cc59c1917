package hub

import (
	"context"
	"errors"
	"maps"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/names"
)

func TestALeaderShowsItsFlagsOnItsLease(t *testing.T) {
	holder := "pod-2"
	for name, test := range map[string]struct {
		options     Options
		annotations map[string]string
		want        map[string]string
	}{
		"with the lifecycle": {
			Options{Offline: evaluation.OfflineHold, Lifecycle: true},
			nil,
			map[string]string{names.OfflinePolicy: "hold", names.LifecycleLeader: holder},
		},
		"with the lifecycle, after another leader": {
			Options{Offline: evaluation.OfflineHold, Lifecycle: true},
			map[string]string{names.LifecycleLeader: "pod-1"},
			map[string]string{names.OfflinePolicy: "hold", names.LifecycleLeader: holder},
		},
		"without the lifecycle, after another leader": {
			Options{Offline: evaluation.OfflineStrict},
			map[string]string{names.OfflinePolicy: "hold", names.LifecycleLeader: "pod-1", "kept": "yes"},
			map[string]string{names.OfflinePolicy: "strict", "kept": "yes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.LeaderElectionNamespace = "interlock-system"
			key := test.options.lease()
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Annotations: test.annotations}}
			lease.Spec.HolderIdentity = &holder
			failures := 1
			hub := fake.NewClientBuilder().WithObjects(lease).WithInterceptorFuncs(interceptor.Funcs{
				Update: func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.UpdateOption) error {
					if failures--; failures >= 0 {
						return errors.New("the hub is busy")
					}
					return hub.Update(ctx, object, options...)
				},
			}).Build()
			test.options.show(t.Context(), hub)
			if err := hub.Get(t.Context(), key, lease); err != nil || !maps.Equal(lease.Annotations, test.want) {
				t.Errorf("got %v, %v, want %v", lease.Annotations, err, test.want)
			}
		})
	}
}
