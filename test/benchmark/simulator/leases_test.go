package simulator

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	coordinationv1 "k8s.io/api/coordination/v1"
)

func TestLeases(t *testing.T) {
	leases := NewLeases([]AddOn{{Name: "a"}, {Name: "b"}})
	client := leases.Leases("anywhere")
	watch, err := client.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a"})
	if err != nil {
		t.Fatal(err)
	}
	next := func() time.Duration {
		t.Helper()
		select {
		case event := <-watch.ResultChan():
			return time.Since(event.Object.(*coordinationv1.Lease).Spec.RenewTime.Time)
		default:
			t.Fatal("no event")
			return 0
		}
	}
	if age := next(); age > time.Minute {
		t.Errorf("at first it is %s old", age)
	}
	leases.Stop("b")
	leases.Stop("a")
	if age := next(); age < leaseGrace {
		t.Errorf("stopped, it is %s old", age)
	}
	leases.RenewIfAlive("a")
	leases.Renew("a")
	if age := next(); age > time.Minute {
		t.Errorf("renewed, it is %s old", age)
	}
	watch.Stop()
	for range 2 * leaseEvents { // no reader, and no writer is blocked
		leases.Renew("a")
	}
	if _, err := client.Get(t.Context(), "missing", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("missing: %v", err)
	}
	list, err := client.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=b"})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "b" {
		t.Errorf("list of one: %v %v", list, err)
	}
}
