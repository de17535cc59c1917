package addonversion

import (
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"open-cluster-management.io/addon-framework/pkg/lease"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func leaseWith(annotations map[string]string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "proxy", Annotations: annotations}}
}

func TestReporter(t *testing.T) {
	for _, test := range []struct {
		name   string
		stored []runtime.Object
		writes int
	}{
		{name: "no lease yet", writes: 1},
		{name: "a lease without a version", stored: []runtime.Object{leaseWith(map[string]string{"other": "kept"})}, writes: 1},
		{name: "another version", stored: []runtime.Object{leaseWith(map[string]string{Annotation: "0.5.0"})}, writes: 1},
		{
			name: "the same version, under the former key too", writes: 1,
			stored: []runtime.Object{leaseWith(map[string]string{Annotation: "0.6.0", addonv1alpha1.FormerVersionAnnotation: "0.5.0"})},
		},
		{name: "the same version", stored: []runtime.Object{leaseWith(map[string]string{Annotation: "0.6.0"})}},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := fake.NewClientset(test.stored...)
			if !Reporter(t.Context(), client, "proxy", "here", "0.6.0")() {
				t.Error("calls the add-on unhealthy")
			}
			stored, err := client.CoordinationV1().Leases("here").Get(t.Context(), "proxy", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := stored.Annotations[Annotation]; got != "0.6.0" {
				t.Errorf("reports %q", got)
			}
			if former, ok := stored.Annotations[addonv1alpha1.FormerVersionAnnotation]; ok {
				t.Errorf("reports %q under the former key", former)
			}
			if len(test.stored) == 0 && stored.Spec.RenewTime == nil {
				t.Error("created a lease that counts as never renewed")
			}
			if test.name == "a lease without a version" && stored.Annotations["other"] != "kept" {
				t.Error("took away another annotation")
			}
			writes := 0
			for _, action := range client.Actions() {
				if action.GetVerb() != "get" {
					writes++
				}
			}
			if writes != test.writes {
				t.Errorf("%d writes, want %d", writes, test.writes)
			}
		})
	}
}

func TestReporterWithoutRights(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("no")
	})
	if !Reporter(t.Context(), client, "proxy", "here", "0.6.0")() {
		t.Error("an add-on that cannot report its version counts as unhealthy")
	}
}

func TestReporterInAddonFramework(t *testing.T) {
	client := fake.NewClientset()
	go lease.NewLeaseUpdater(client, "proxy", "here", Reporter(t.Context(), client, "proxy", "here", "0.6.0")).Start(t.Context())
	deadline := time.After(10 * time.Second)
	for {
		stored, err := client.CoordinationV1().Leases("here").Get(t.Context(), "proxy", metav1.GetOptions{})
		if err == nil && stored.Annotations[Annotation] == "0.6.0" && stored.Spec.RenewTime != nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the lease does not report the version: %v, %v", stored, err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
