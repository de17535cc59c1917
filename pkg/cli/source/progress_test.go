package source

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/picture"
)

// TestProgressOfPages tests a list of three pages. The API server reports how many objects remain.
func TestProgressOfPages(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	screen := &picture.Screen{Terminal: terminal.Screen{Width: 80}}
	messages, now := terminal.NewMessages(screen), clocktesting.NewFakePassiveClock(fixture.Now.Time)
	messages.Clock = now
	remaining := []*int64{ptr.To[int64](3), ptr.To[int64](1), nil}
	hub := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			now.SetTime(now.Now().Add(time.Second))
			page, _ := list.(*addonv1alpha1.ManagedClusterAddOnList)
			page.Items = make([]addonv1alpha1.ManagedClusterAddOn, 2)
			if page.RemainingItemCount, remaining = remaining[0], remaining[1:]; page.RemainingItemCount != nil {
				page.Continue = "next"
			}
			return nil
		},
	}).Build()
	err := snapshot.Each(t.Context(), newProgressClient(hub, messages), "managedclusteraddons", "",
		func(*addonv1alpha1.ManagedClusterAddOnList) {})
	if err != nil {
		t.Fatal(err)
	}
	const newLine = "\r\x1b[K"
	want := newLine + "Reading ManagedClusterAddOn objects" + newLine + "Reading ManagedClusterAddOn objects: 2 of 5" +
		newLine + "Reading ManagedClusterAddOn objects: 4 of 5"
	if got := screen.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressOfEvaluations(t *testing.T) {
	screen := &picture.Screen{Terminal: terminal.Screen{Width: 80}}
	s := &Source{ErrOut: terminal.NewMessages(screen)}
	taken := snapshot.New(snapshot.Content{AddOns: []*addonv1alpha1.ManagedClusterAddOn{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Namespace: "c2", Name: "a"}},
	}})
	s.showEvaluations(taken)
	taken.Evaluated("c2")
	if got := screen.String(); !strings.HasSuffix(got, "Evaluating managed clusters: 1 of 2") {
		t.Errorf("got %q", got)
	}
}
