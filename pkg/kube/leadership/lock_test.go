package leadership

import (
	"context"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestConfirm(t *testing.T) {
	key, busy := client.ObjectKey{Namespace: "interlock-system", Name: "lease"}, errors.New("the hub is busy")
	held := func(holder string) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder},
		}
	}
	for name, test := range map[string]struct {
		lease    *coordinationv1.Lease
		identity string
		failure  error
		want     error
	}{
		"leads":                   {held("pod-1"), "pod-1", nil, nil},
		"was replaced":            {held("pod-2"), "pod-1", nil, ErrReplaced},
		"the lease was released":  {held(""), "pod-1", nil, ErrReplaced},
		"the lease was deleted":   {nil, "pod-1", nil, ErrReplaced},
		"the lease is not read":   {held("pod-1"), "pod-1", busy, busy},
		"without leader election": {held("pod-2"), "", nil, nil},
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
			err := Election{Live: hub.Build(), Lease: key, Identity: test.identity}.Confirm(t.Context())
			if !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

func TestEachLockHasAnIdentityOfItsOwn(t *testing.T) {
	identities := map[string]bool{}
	for range 2 {
		lock, err := NewLock(&rest.Config{}, client.ObjectKey{Namespace: "interlock-system", Name: "lease"}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		identities[lock.Identity()] = true
	}
	if len(identities) != 2 {
		t.Error(identities)
	}
}
