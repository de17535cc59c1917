package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// listingHub is a fake hub that cannot list by watching. A change between a list and the watch is in neither.
type listingHub struct {
	client.WithWatch
	// watched is closed when add-ons are watched.
	watched   chan struct{}
	closeOnce *sync.Once
}

func (h listingHub) Watch(ctx context.Context, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
	watcher, err := h.WithWatch.Watch(ctx, list, options...)
	if _, listsAddOns := list.(*addonv1alpha1.ManagedClusterAddOnList); listsAddOns && err == nil {
		h.closeOnce.Do(func() { close(h.watched) })
	}
	return watcher, err
}

func awaitWatch(ctx context.Context, t *testing.T, hub client.WithWatch) {
	t.Helper()
	select {
	case <-hub.(listingHub).watched:
	case <-ctx.Done():
		t.Fatal("the add-ons are not watched")
	}
}

// IsWatchListSemanticsUnSupported makes client-go list before it watches.
func (listingHub) IsWatchListSemanticsUnSupported() bool { return true }

func addOn(cluster, name string, status metav1.ConditionStatus) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	if status != "" {
		available := metav1.Condition{Type: "Available", Status: status, Reason: "Reported", LastTransitionTime: fixture.Now}
		addOn.Status.Conditions = []metav1.Condition{available}
	}
	return addOn
}

// hubWith returns a hub where gateway depends on proxy.
func hubWith(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(funcs).
		WithStatusSubresource(&addonv1alpha1.ManagedClusterAddOn{}).
		WithIndex(&clusterv1.ManagedCluster{}, metav1.ObjectNameField, func(object client.Object) []string { return []string{object.GetName()} })
	registrations := fixture.Registrations("gateway: proxy, proxy:")
	for i := range registrations {
		builder.WithObjects(&registrations[i])
	}
	return listingHub{builder.WithObjects(objects...).Build(), make(chan struct{}), &sync.Once{}}
}

// start waits in the background. It returns the lines printed so far, and a channel with the error that ends the wait.
func start(ctx context.Context, t *testing.T, hub client.WithWatch, goal target) (lines func() string, ended chan error) {
	t.Helper()
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	o := &options{IOStreams: streams, source: &source.Source{}, show: func(line string) { fmt.Fprintln(out, line) }, target: goal}
	first, err := snapshot.Take(ctx, hub, goal.cluster)
	if err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() {
		_, err := o.wait(ctx, hub, first)
		ended <- err
	}()
	return out.String, ended
}

func set(t *testing.T, hub client.Client, cluster, name string, status metav1.ConditionStatus) {
	t.Helper()
	stored := &addonv1alpha1.ManagedClusterAddOn{}
	if err := hub.Get(t.Context(), client.ObjectKey{Namespace: cluster, Name: name}, stored); err != nil {
		t.Fatal(err)
	}
	stored.Status = addOn(cluster, name, status).Status
	if err := hub.Status().Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
}

func TestWaitEndsWithTheChange(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	hub := hubWith(t, interceptor.Funcs{}, addOn("cluster1", "gateway", "True"), addOn("cluster1", "proxy", "False"),
		addOn("cluster2", "gateway", "True"), addOn("cluster2", "proxy", "True"))
	lines, ended := start(ctx, t, hub, target{addOns: []string{"gateway"}, goals: []string{goalSatisfied, goalAvailable}})
	awaitWatch(ctx, t, hub)
	select {
	case err := <-ended:
		t.Fatalf("ended with %v while proxy is not available", err)
	case <-time.After(time.Second):
	}
	set(t, hub, "cluster1", "proxy", "True")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	want := "1 of 2 clusters ok; waiting for cluster1: proxy is not available: Reported\n2 of 2 clusters ok\n"
	if got := lines(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWaitForInstallation(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	hub := hubWith(t, interceptor.Funcs{}, addOn("cluster1", "proxy", "True"))
	lines, ended := start(ctx, t, hub, target{addOns: []string{"gateway"}, cluster: "cluster1", goals: []string{goalSatisfied}})
	awaitWatch(ctx, t, hub)
	if err := hub.Create(ctx, addOn("cluster1", "gateway", "")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := lines(); !strings.HasSuffix(got, "1 of 1 add-on ok\n") {
		t.Error(got)
	}
}

func TestWaitForRemoval(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	gateway := addOn("cluster1", "gateway", "True")
	hub := hubWith(t, interceptor.Funcs{}, gateway, addOn("cluster1", "proxy", "True"))
	_, ended := start(ctx, t, hub, target{addOns: []string{"gateway"}, cluster: "cluster1", goals: []string{goalGone}})
	awaitWatch(ctx, t, hub)
	if err := hub.Delete(ctx, gateway); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestWaitEndsWithTheTime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	hub := hubWith(t, interceptor.Funcs{}, addOn("cluster1", "gateway", "False"), addOn("cluster1", "proxy", "True"))
	lines, ended := start(ctx, t, hub, target{addOns: []string{"gateway"}, goals: []string{goalSatisfied, goalAvailable}})
	if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v", err)
	}
	if want := "0 of 1 cluster ok; waiting for cluster1: gateway is not available: Reported\n"; lines() != want {
		t.Errorf("got %q, want %q", lines(), want)
	}
}

func TestWaitWithoutRightToWatch(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	denied := interceptor.Funcs{
		Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
			return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "managedclusteraddons"}, "", errors.New("may not watch"))
		},
	}
	hub := hubWith(t, denied, addOn("cluster1", "gateway", "False"))
	_, ended := start(ctx, t, hub, target{addOns: []string{"gateway"}, goals: []string{goalAvailable}})
	if err := <-ended; !apierrors.IsForbidden(err) {
		t.Errorf("ended with %v", err)
	}
}

func TestMeasure(t *testing.T) {
	degraded := addOn("cluster1", "gateway", "True")
	degraded.Status.Conditions = append(degraded.Status.Conditions, metav1.Condition{
		Type: "Degraded", Status: "True", Reason: addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
	})
	working, bothGoals, gateway := addOn("cluster1", "gateway", "True"), []string{goalSatisfied, goalAvailable}, []string{"gateway"}
	type addOns = []*addonv1alpha1.ManagedClusterAddOn
	for name, test := range map[string]struct {
		addOns addOns
		target target
		want   string
	}{
		"all is well": {addOns: addOns{working, addOn("cluster1", "proxy", "True")}, target: target{goals: bothGoals}},
		"not installed there": {
			target: target{addOns: gateway, cluster: "cluster1", goals: bothGoals}, want: "gateway is not installed",
		},
		"installed nowhere": {
			target: target{addOns: gateway, goals: bothGoals}, want: "gateway is not installed on any managed cluster",
		},
		"gone": {target: target{addOns: gateway, goals: []string{goalGone}}},
		"it is to be gone": {
			addOns: addOns{working}, target: target{addOns: gateway, goals: []string{goalGone}},
			want: "gateway is installed, and its deletion was not requested",
		},
		"a dependency is missing": {
			addOns: addOns{working}, target: target{addOns: gateway, goals: bothGoals}, want: "proxy is not installed",
		},
		"it is available all the same": {addOns: addOns{working}, target: target{addOns: gateway, goals: []string{goalAvailable}}},
		"addon-manager has not followed": {
			addOns: addOns{degraded, addOn("cluster1", "proxy", "True")}, target: target{addOns: gateway, goals: []string{goalSatisfied}},
			want: "Degraded is still True although its dependencies are satisfied; kubectl addon doctor checks addon-manager",
		},
		"nothing is reported yet": {
			addOns: addOns{addOn("cluster1", "proxy", "")}, target: target{addOns: []string{"proxy"}, goals: bothGoals},
			want: "proxy has not reported Available yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			content := snapshot.Content{Taken: fixture.Now.Time, Registrations: fixture.Registrations("gateway: proxy, proxy:")}
			content.AddOns = append(content.AddOns, test.addOns...)
			content.AddOns = append(content.AddOns, addOn("cluster1", "other", "True"))
			got := measure(snapshot.New(content), test.target)
			reason := ""
			if len(got.waiting) > 0 {
				reason = got.waiting[0].reason
			}
			if reason != test.want {
				t.Errorf("got %q, want %q", reason, test.want)
			}
		})
	}
}
