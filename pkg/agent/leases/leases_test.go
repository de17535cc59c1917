package leases

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	clienttesting "k8s.io/client-go/testing"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/test/runnable"
)

const patience = 30 * time.Second

var leaseTime = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func lease(renewTime *metav1.MicroTime) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "proxy"},
		Spec:       coordinationv1.LeaseSpec{RenewTime: renewTime},
	}
}

func renewTime(t time.Time) *metav1.MicroTime {
	micro := metav1.NewMicroTime(t)
	return &micro
}

// plain reports to a reflector that the fake client cannot begin a watch with a list, in
// contrast to a real API server.
type plain struct {
	coordinationv1client.LeasesGetter
}

type plainLeases struct {
	coordinationv1client.LeaseInterface
}

func (p plain) Leases(namespace string) coordinationv1client.LeaseInterface {
	return plainLeases{p.LeasesGetter.Leases(namespace)}
}

func (plainLeases) IsWatchListSemanticsUnSupported() bool { return true }

// started returns a running watcher, and a channel with the add-ons whose leases change.
func started(t *testing.T, managed, hosting *fake.Clientset) (*Watcher, <-chan string) {
	t.Helper()
	changed := make(chan string, 100)
	watcher := New(plain{managed.CoordinationV1()}, plain{hosting.CoordinationV1()}, func(name string) { changed <- name }, func(string) {})
	runnable.Start(t, watcher.Start)
	return watcher, changed
}

func awaitChange(t *testing.T, changed <-chan string) {
	t.Helper()
	select {
	case name := <-changed:
		if name != "proxy" {
			t.Fatalf("notified of %q", name)
		}
	case <-time.After(patience):
		t.Fatal("not notified of a change")
	}
}

// silenced keeps the API server from responding to lists until the returned function is called.
func silenced(managed *fake.Clientset) (respond func()) {
	silence := make(chan struct{})
	managed.PrependReactor("list", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		<-silence
		return false, nil, nil
	})
	return func() { close(silence) }
}

var here = Reference{Place: Managed, Namespace: "here", Name: "proxy"}

func TestWatchKeepsLeaseState(t *testing.T) {
	managed := fake.NewClientset()
	respond := silenced(managed)
	watcher, changed := started(t, managed, fake.NewClientset())
	expect := func(state availability.LeaseState, renewed *time.Time) {
		t.Helper()
		watcher.Watch(here)
		got := watcher.Lease(here)
		if got.State != state || (got.RenewTime == nil) != (renewed == nil) || (renewed != nil && !got.RenewTime.Equal(*renewed)) {
			t.Fatalf("observed %+v, want state %d renewed at %v", got, state, renewed)
		}
	}
	expect(availability.LeaseUnobserved, nil)
	respond()
	awaitChange(t, changed)
	expect(availability.LeaseNotFound, nil)

	// The fake client does not report writes between a list and its watch.
	NewWithT(t).Eventually(count).WithArguments(managed, "watch").WithTimeout(patience).Should(BeNumerically(">", 0))
	client := managed.CoordinationV1().Leases("here")
	if _, err := client.Create(t.Context(), lease(nil), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitChange(t, changed)
	expect(availability.LeaseFound, nil)
	if _, err := client.Update(t.Context(), lease(renewTime(leaseTime)), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitChange(t, changed)
	expect(availability.LeaseFound, &leaseTime)
	if err := client.Delete(t.Context(), "proxy", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitChange(t, changed)
	expect(availability.LeaseNotFound, nil)
}

func TestOneWatchPerLease(t *testing.T) {
	managed, hosting := fake.NewClientset(), fake.NewClientset(lease(renewTime(leaseTime)))
	respond := silenced(hosting)
	watcher, changed := started(t, managed, hosting)
	for range 5 {
		watcher.Watch(here)
	}
	awaitChange(t, changed)
	if watches := count(managed, "watch"); watches > 1 {
		t.Errorf("%d watches on one lease", watches)
	}
	for _, action := range managed.Actions() {
		if list, ok := action.(clienttesting.ListAction); ok && list.GetListRestrictions().Fields.String() != "metadata.name=proxy" {
			t.Errorf("listed %q: others' leases too", list.GetListRestrictions().Fields)
		}
	}

	elsewhere := here
	elsewhere.Place = Hosting
	watcher.Watch(elsewhere)
	for _, lease := range []Reference{here, elsewhere} {
		if got := watcher.Lease(lease); got.State != availability.LeaseUnobserved {
			t.Errorf("takes one lease for another: %+v", got)
		}
	}
	respond()
	awaitChange(t, changed)
	if got := watcher.Lease(elsewhere); got.State != availability.LeaseFound {
		t.Errorf("observed %+v on the hosting cluster", got)
	}
	if got := watcher.Lease(here); got.State != availability.LeaseUnobserved {
		t.Errorf("takes the lease on the hosting cluster for that on the managed cluster: %+v", got)
	}
	watcher.Unwatch("proxy")
	watcher.Unwatch("proxy") // no longer watched
	if got := watcher.Lease(elsewhere); got.State != availability.LeaseUnobserved {
		t.Errorf("keeps a lease that it no longer watches: %+v", got)
	}
	t.Cleanup(silenced(hosting))
	watcher.Watch(elsewhere)
	if got := watcher.Lease(elsewhere); got.State != availability.LeaseUnobserved {
		t.Errorf("a new watch begins with an old state: %+v", got)
	}
}

func count(client *fake.Clientset, verb string) int {
	n := 0
	for _, action := range client.Actions() {
		if action.GetVerb() == verb {
			n++
		}
	}
	return n
}

func TestRefusingAPIServer(t *testing.T) {
	managed := fake.NewClientset(lease(renewTime(leaseTime)))
	refusals := 0
	managed.PrependReactor("list", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		refusals++
		return refusals < 3, nil, apierrors.NewServiceUnavailable("starting")
	})
	watcher, changed := started(t, managed, fake.NewClientset())
	watcher.Watch(here)
	if got := watcher.Lease(here); got.State != availability.LeaseUnobserved {
		t.Fatalf("observed %+v", got)
	}
	awaitChange(t, changed)
	if got := watcher.Lease(here); got.State != availability.LeaseFound || refusals < 3 {
		t.Errorf("observed %+v after %d refusals", got, refusals)
	}
}

func TestRead(t *testing.T) {
	refusal := apierrors.NewForbidden(coordinationv1.Resource("leases"), "proxy", errors.New("no"))
	tests := []struct {
		name    string
		objects []runtime.Object
		refusal error
		want    availability.Lease
	}{
		{
			name: "found", objects: []runtime.Object{lease(renewTime(leaseTime))},
			want: availability.Lease{State: availability.LeaseFound, RenewTime: &leaseTime},
		},
		{name: "never renewed", objects: []runtime.Object{lease(nil)}, want: availability.Lease{State: availability.LeaseFound}},
		{name: "not found", want: availability.Lease{State: availability.LeaseNotFound}},
		{name: "refused", refusal: refusal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hosting := fake.NewClientset(tt.objects...)
			if tt.refusal != nil {
				hosting.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tt.refusal })
			}
			watcher := New(fake.NewClientset().CoordinationV1(), hosting.CoordinationV1(), func(string) {}, func(string) {})
			got, err := watcher.Read(t.Context(), Reference{Place: Hosting, Namespace: "here", Name: "proxy"})
			if !errors.Is(err, tt.refusal) {
				t.Fatalf("got error %v, want %v", err, tt.refusal)
			}
			if err != nil && err.Error() != "read lease here/proxy on the hosting cluster: "+refusal.Error() {
				t.Errorf("error does not say what was read where: %v", err)
			}
			if got.State != tt.want.State || (got.RenewTime == nil) != (tt.want.RenewTime == nil) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestNoWatchAfterEnd(t *testing.T) {
	watcher := New(fake.NewClientset().CoordinationV1(), fake.NewClientset().CoordinationV1(), func(string) {}, func(string) {})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := watcher.Start(ctx); err != nil {
		t.Fatal(err)
	}
	watcher.Watch(here)
	if len(watcher.watches) != 0 {
		t.Error("a watch that nothing ends")
	}
}
