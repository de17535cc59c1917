package available

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/agent/agentmetrics"
	"open-cluster-management.io/interlock/pkg/agent/leases"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
)

func TestApplyWritesOneConditionWithResourceVersion(t *testing.T) {
	f := newFixture(t, proxy(withCondition("Progressing", "True", "Installing"), withCondition("Degraded", "False", "Fine")))
	f.leases.observed = renewed(time.Minute)
	result, err := f.reconcile(t)
	if err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{{
		"apiVersion": "addon.open-cluster-management.io/v1alpha1", "kind": "ManagedClusterAddOn",
		"metadata": map[string]any{"namespace": "cluster1", "name": "proxy", "resourceVersion": "999"},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Available", "status": "True", "reason": "ManagedClusterAddOnLeaseUpdated",
			"message": "proxy add-on is available.", "lastTransitionTime": "2026-08-01T12:00:00Z",
		}}},
	}}
	if diff := cmp.Diff(want, f.applied); diff != "" {
		t.Errorf("applied (-want +got)\n%s", diff)
	}
	if result.RequeueAfter != grace-time.Minute {
		t.Errorf("requeued after %s, want %s: the moment of expiry", result.RequeueAfter, grace-time.Minute)
	}
	if len(f.emitted) != 0 {
		t.Errorf("events %q on an add-on that is available", f.emitted)
	}
}

func TestFailedWrite(t *testing.T) {
	unavailable := errors.New("connection refused")
	tests := []struct {
		name       string
		applyError error
		want       reconcile.Result
		wantError  error
		result     string
	}{
		{
			name: "a conflict is retried shortly, and is no error", applyError: apierrors.NewConflict(group, "proxy", nil),
			want: controllers.AfterConflict, result: "conflict",
		},
		{name: "deleted meanwhile", applyError: apierrors.NewNotFound(group, "proxy")},
		{name: "anything else is an error, which is retried with backoff", applyError: unavailable, wantError: unavailable, result: "error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, proxy())
			f.leases.observed, f.applyError = renewed(0), tt.applyError
			result, err := f.reconcile(t)
			if !errors.Is(err, tt.wantError) || result != tt.want {
				t.Errorf("got %+v and error %v, want %+v and %v", result, err, tt.want, tt.wantError)
			}
			if len(f.emitted) > 0 {
				t.Errorf("events %v on a write that failed", f.emitted)
			}
			desired := metav1.Condition{Status: "True", Reason: "ManagedClusterAddOnLeaseUpdated", Message: "proxy add-on is available."}
			if wait := f.Backoff.Wait(key, backoff.Condition(desired)); wait != 0 {
				t.Errorf("took its own failure for another writer: waits %s", wait)
			}
			if tt.result != "" && testutil.CollectAndCount(f.registry, agentmetrics.NameWrites) != 1 {
				t.Errorf("write not counted")
			}
		})
	}
}

func TestFailedCache(t *testing.T) {
	f := newFixture(t, proxy())
	f.getError = errors.New("not synced")
	if _, err := f.reconcile(t); !errors.Is(err, f.getError) {
		t.Errorf("got error %v", err)
	}
	if f.leases.unwatched > 0 || len(f.applied) > 0 {
		t.Error("took a failure to read for a deletion")
	}
}

// TestReadsLeaseBeforeAddOnBecomesUnavailable tests the live read of a lease, because an interrupted watch looks like a lease that is not
// renewed.
func TestReadsLeaseBeforeAddOnBecomesUnavailable(t *testing.T) {
	unreachable := errors.New("no route to host")
	tests := []struct {
		name      string
		read      availability.Lease
		readError error
		want      string
		wantError error
	}{
		{name: "stopped indeed", read: renewed(time.Hour), want: "ManagedClusterAddOnLeaseUpdateStopped"},
		{name: "renewed, and the watch missed it", read: renewed(time.Second)},
		{
			name: "deleted, and the watch missed it", read: availability.Lease{State: availability.LeaseNotFound},
			want: "ManagedClusterAddOnLeaseNotFound",
		},
		{name: "no response: Available keeps its value", readError: unreachable, wantError: unreachable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, proxy(withCondition("Available", "True", "ManagedClusterAddOnLeaseUpdated")))
			f.leases.observed, f.leases.read, f.leases.readError = renewed(grace), tt.read, tt.readError
			_, err := f.reconcile(t)
			if !errors.Is(err, tt.wantError) {
				t.Errorf("got error %v, want %v", err, tt.wantError)
			}
			if got := appliedReason(t, f); got != tt.want {
				t.Errorf("wrote %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("but not again once that is known", func(t *testing.T) {
		f := newFixture(t, proxy(withCondition("Available", "False", "ManagedClusterAddOnLeaseUpdateStopped")))
		f.leases.observed = renewed(grace)
		if _, err := f.reconcile(t); err != nil || f.leases.reads != 0 || len(f.applied) != 0 {
			t.Errorf("read %d times, wrote %v, error %v", f.leases.reads, f.applied, err)
		}
	})
}

func appliedReason(t *testing.T, f *fixture) string {
	t.Helper()
	if len(f.applied) == 0 {
		return ""
	}
	conditions, _, err := unstructured.NestedSlice(f.applied[len(f.applied)-1], "status", "conditions")
	if err != nil || len(conditions) != 1 {
		t.Fatalf("applied %v: %v", f.applied, err)
	}
	return conditions[0].(map[string]any)["reason"].(string)
}

func TestLeaseIsWatchedWhereTheAddOnRuns(t *testing.T) {
	hosted := func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		addOn.Annotations = map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "mgmt"}
	}
	installed := func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		addOn.Spec.InstallNamespace = "in-spec" //nolint:staticcheck // deprecated, and still where OCM installs an add-on
	}
	reported := func(addOn *addonv1alpha1.ManagedClusterAddOn) { addOn.Status.Namespace = "in-status" }
	custom := func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		addOn.Status.HealthCheck.Mode = ocmv1alpha1.HealthCheckModeCustomized
	}
	tests := []struct {
		name    string
		addOn   *addonv1alpha1.ManagedClusterAddOn
		want    []leases.Reference
		unwatch int
	}{
		{
			name: "by default", addOn: proxy(),
			want: []leases.Reference{{Place: leases.Managed, Namespace: "open-cluster-management-agent-addon", Name: "proxy"}},
		},
		{name: "spec", addOn: proxy(installed), want: []leases.Reference{{Place: leases.Managed, Namespace: "in-spec", Name: "proxy"}}},
		{
			name: "status before spec", addOn: proxy(installed, reported),
			want: []leases.Reference{{Place: leases.Managed, Namespace: "in-status", Name: "proxy"}},
		},
		{name: "hosted", addOn: proxy(hosted, installed), want: []leases.Reference{{Place: leases.Hosting, Namespace: "in-spec", Name: "proxy"}}},
		{name: "Customized: nowhere", addOn: proxy(custom), unwatch: 1},
		{
			name:  "a failing dependency does not end the watch",
			addOn: proxy(installed, withCondition("Degraded", "True", "RequiredDependencyNotSatisfied")),
			want:  []leases.Reference{{Place: leases.Managed, Namespace: "in-spec", Name: "proxy"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, tt.addOn)
			if _, err := f.reconcile(t); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, f.leases.watched); diff != "" || f.leases.unwatched != tt.unwatch {
				t.Errorf("unwatched %d times; watched (-want +got)\n%s", f.leases.unwatched, diff)
			}
		})
	}
}

func TestWritesBackOffFromAnotherWriter(t *testing.T) {
	f := newFixture(t, proxy(
		withCondition("Available", "True", "AnotherWriter"), withCondition("Degraded", "True", "RequiredDependencyNotSatisfied"),
	))
	for i, wait := range []time.Duration{0, 0, 500 * time.Millisecond, time.Second} {
		result, err := f.reconcile(t) // the stored condition is never the agent's: overwritten at once
		if err != nil || result.RequeueAfter != wait {
			t.Fatalf("%d. time: %+v, error %v, want to wait %s", i+1, result, err, wait)
		}
		if wait > 0 {
			f.clock.Step(wait)
			if _, err := f.reconcile(t); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(f.applied) != 4 {
		t.Errorf("wrote %d times, want 4", len(f.applied))
	}
	if diff := cmp.Diff([]string{
		"Warning AvailableContested",
	}, f.emitted); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
}

// TestFlappingDependencyBehindGuardNeedsNoBackoff tests the backoff behind a guard. The guard sets Available to False
// with each write of Degraded, so that the agent only writes True. No other writer overwrites that.
func TestFlappingDependencyBehindGuardNeedsNoBackoff(t *testing.T) {
	unavailable := withCondition("Available", "False", "RequiredDependencyNotSatisfied")
	failing := proxy(unavailable, withCondition("Degraded", "True", "RequiredDependencyNotSatisfied"))
	satisfied := proxy(unavailable, withCondition("Degraded", "False", "DependenciesSatisfied"))
	f := newFixture(t, failing)
	f.leases.observed = renewed(0)
	for i := range 5 {
		for _, stored := range []*addonv1alpha1.ManagedClusterAddOn{failing, satisfied} {
			current := proxy()
			if err := f.hub.Get(t.Context(), key, current); err != nil {
				t.Fatal(err)
			}
			current.Status = stored.Status
			if err := f.hub.Update(t.Context(), current); err != nil {
				t.Fatal(err)
			}
			f.clock.Step(100 * time.Millisecond)
			if _, err := f.reconcile(t); err != nil {
				t.Fatal(err)
			}
		}
		if len(f.applied) != i+1 {
			t.Fatalf("after recovery %d: %d writes", i+1, len(f.applied))
		}
	}
	if len(f.emitted) != 0 {
		t.Errorf("events: %v", f.emitted)
	}
}

func TestDeletedAddOnIsForgotten(t *testing.T) {
	f := newFixture(t, proxy())
	f.leases.observed = renewed(-time.Hour)
	if _, err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{agentmetrics.NameWrites, agentmetrics.NameLeases, agentmetrics.NameSkew} {
		if testutil.CollectAndCount(f.registry, name) != 1 {
			t.Errorf("no series of %s while the add-on is there", name)
		}
	}
	f.getError = apierrors.NewNotFound(group, "proxy")
	if _, err := f.reconcile(t); err != nil {
		t.Fatal(err)
	}
	if count := testutil.CollectAndCount(f.registry, slices.Collect(maps.Keys(agentmetrics.Help))...); count != 0 || f.leases.unwatched != 1 {
		t.Errorf("%d series left, lease unwatched %d times", count, f.leases.unwatched)
	}
}
