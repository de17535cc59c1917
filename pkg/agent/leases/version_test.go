package leases

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

func TestVersionChangesAreNotifiedSeparately(t *testing.T) {
	managed := fake.NewClientset()
	respond := silenced(managed)
	healthy, versioned := make(chan string, 100), make(chan string, 100)
	watcher := New(plain{managed.CoordinationV1()}, plain{managed.CoordinationV1()},
		func(name string) { healthy <- name }, func(name string) { versioned <- name })
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- watcher.Start(ctx) }()
	t.Cleanup(func() { stop(); <-ended })

	watcher.WatchVersions([]Reference{here})
	if got := watcher.Version(here); got.State != availability.LeaseUnobserved {
		t.Fatalf("observed %+v", got)
	}
	respond()
	awaitChange(t, versioned)
	NewWithT(t).Eventually(count).WithArguments(managed, "watch").WithTimeout(patience).Should(BeNumerically(">", 0))
	client := managed.CoordinationV1().Leases("here")
	write := func(version string, renewed time.Time) {
		t.Helper()
		object := lease(renewTime(renewed))
		metav1.SetMetaDataAnnotation(&object.ObjectMeta, addonv1alpha1.AddOnVersionAnnotation, version)
		_, err := client.Update(t.Context(), object, metav1.UpdateOptions{})
		if apierrors.IsNotFound(err) {
			_, err = client.Create(t.Context(), object, metav1.CreateOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	expect := func(version string) {
		t.Helper()
		if got := watcher.Version(here); got.State != availability.LeaseFound || got.Reported != version {
			t.Fatalf("observed %+v, want %s", got, version)
		}
	}
	write("1.0.0", leaseTime)
	awaitChange(t, versioned)
	expect("1.0.0")
	write("1.0.0", leaseTime.Add(time.Minute)) // a renewal alone
	write("1.1.0", leaseTime.Add(2*time.Minute))
	awaitChange(t, versioned)
	expect("1.1.0")
	if len(versioned) > 0 {
		t.Error("a renewal counts as another version")
	}
	if len(healthy) > 0 {
		t.Error("notified of the health of an add-on that is not watched for it")
	}

	watcher.Watch(here)
	watcher.Unwatch("proxy")
	write("1.2.0", leaseTime.Add(3*time.Minute))
	awaitChange(t, versioned)
	expect("1.2.0")
	watcher.WatchVersions(nil)
	watcher.mutex.Lock()
	defer watcher.mutex.Unlock()
	if len(watcher.watches) > 0 {
		t.Error("keeps a watch that has no purpose")
	}
}

func TestVersionOf(t *testing.T) {
	const current, former = addonv1alpha1.AddOnVersionAnnotation, addonv1alpha1.FormerVersionAnnotation
	for name, tc := range map[string]struct {
		annotations map[string]string
		want        Version
	}{
		"None":      {nil, Version{State: availability.LeaseFound}},
		"Current":   {map[string]string{current: "1"}, Version{State: availability.LeaseFound, Reported: "1"}},
		"Former":    {map[string]string{former: "2"}, Version{State: availability.LeaseFound, Reported: "2", Former: true}},
		"Both":      {map[string]string{current: "1", former: "2"}, Version{State: availability.LeaseFound, Reported: "1"}},
		"Blank":     {map[string]string{current: " ", former: "2"}, Version{State: availability.LeaseFound, Reported: "2", Former: true}},
		"AnotherOf": {map[string]string{"version": "3"}, Version{State: availability.LeaseFound}},
	} {
		object := lease(nil)
		object.Annotations = tc.annotations
		if got := versionOf(object); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestReferenceOf(t *testing.T) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "proxy"}}
	addOn.Status.Namespace = "here"
	if got := ReferenceOf(addOn); got != here {
		t.Errorf("%+v", got)
	}
	addOn.Annotations = map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "host"}
	if got := ReferenceOf(addOn); got.Place != Hosting {
		t.Errorf("%+v of a hosted add-on", got)
	}
}
