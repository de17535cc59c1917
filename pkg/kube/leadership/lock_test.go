package leadership

import (
	"errors"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
)

func TestConfirm(t *testing.T) {
	key, busy := types.NamespacedName{Namespace: "interlock-system", Name: "lease"}, errors.New("the hub is busy")
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
			hub := fake.NewClientset()
			if test.lease != nil {
				hub = fake.NewClientset(test.lease)
			}
			hub.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
				return test.failure != nil, nil, test.failure
			})
			err := Election{Leases: hub.CoordinationV1(), Lease: key, Identity: test.identity}.Confirm(t.Context())
			if !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

// With the timeout of the lock, all watches of the process would end every few seconds, and a large fleet could never be read.
func TestNewLockDoesNotChangeTheConfiguration(t *testing.T) {
	config := &rest.Config{Host: "https://hub.test", UserAgent: "addon-manager"}
	if _, err := NewLock(config, types.NamespacedName{Namespace: "interlock-system", Name: "lease"}); err != nil {
		t.Fatal(err)
	}
	if config.Timeout != 0 || config.UserAgent != "addon-manager" {
		t.Errorf("timeout %s, user agent %q", config.Timeout, config.UserAgent)
	}
}

func TestEachLockHasAnIdentityOfItsOwn(t *testing.T) {
	identities := map[string]bool{}
	for range 2 {
		lock, err := NewLock(&rest.Config{}, types.NamespacedName{Namespace: "interlock-system", Name: "lease"})
		if err != nil {
			t.Fatal(err)
		}
		identities[lock.Identity()] = true
	}
	if len(identities) != 2 {
		t.Error(identities)
	}
}
