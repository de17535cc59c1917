package snapshot

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/pkg/names"
)

// Manager is the state of addon-manager, from the lease of its leader.
type Manager struct {
	// Offline is the policy for verdicts on lost clusters. It is empty if it is unknown.
	Offline evaluation.OfflinePolicy `json:"offline,omitempty"`
	// Leads is the time at which its leader began to lead.
	Leads time.Time `json:"leads,omitzero"`
	// Unread is the reason why Offline is unknown.
	Unread string `json:"unread,omitempty"`
	// Lifecycle is true if its leader runs with --lifecycle.
	Lifecycle bool `json:"lifecycle,omitempty"`
}

// RunsLifecycle reports whether the leader of addon-manager runs with --lifecycle.
func (c *Content) RunsLifecycle() bool { return c.Manager != nil && c.Manager.Lifecycle }

// leads returns the time at which the leader began to lead. It is zero if it is unknown.
func (m *Manager) leads() time.Time {
	if m == nil {
		return time.Time{}
	}
	return m.Leads
}

// Policy returns the policy for verdicts on lost clusters. It is the default of
// addon-manager if its lease does not show another one.
func (c *Content) Policy() evaluation.OfflinePolicy {
	if c.Manager == nil || c.Manager.Offline == "" {
		return evaluation.OfflineHold
	}
	return c.Manager.Offline
}

// readManager reads the lease of the leader in any namespace. A failure is no error,
// because users need the right to read it only if the policy is not the default.
func readManager(ctx context.Context, hub client.Reader, now time.Time) *Manager {
	newest, err := newestLease(ctx, hub)
	if err != nil {
		return &Manager{Unread: fmt.Sprintf("the lease of its leader cannot be read: %v", err)}
	}
	if newest == nil {
		return &Manager{Unread: "there is no lease of its leader"}
	}
	manager := &Manager{Leads: timeIn(newest, "acquireTime"), Lifecycle: runsLifecycle(newest, now)}
	switch policy := evaluation.OfflinePolicy(newest.GetAnnotations()[names.OfflinePolicy]); policy {
	case evaluation.OfflineHold, evaluation.OfflineStrict:
		manager.Offline = policy
	case "":
		manager.Unread = "the lease of its leader has no annotation " + names.OfflinePolicy
	default:
		manager.Unread = fmt.Sprintf("the annotation %s on the lease of its leader is %q", names.OfflinePolicy, policy)
	}
	return manager
}

// newestLease returns the lease of the leader that was renewed last. It is nil if there is none.
func newestLease(ctx context.Context, hub client.Reader) (*unstructured.Unstructured, error) {
	leases := &unstructured.UnstructuredList{}
	leases.SetGroupVersionKind(coordinationv1.SchemeGroupVersion.WithKind("LeaseList"))
	if err := hub.List(ctx, leases, client.MatchingFields{"metadata.name": names.AddonManager}); err != nil {
		return nil, err
	}
	var newest *unstructured.Unstructured
	for i := range leases.Items {
		if newest == nil || timeIn(&leases.Items[i], "renewTime").After(timeIn(newest, "renewTime")) {
			newest = &leases.Items[i]
		}
	}
	return newest, nil
}

// clockSkew is the largest difference between the clocks of the user and the hub that changes nothing.
const clockSkew = 5 * time.Minute

// Leaderless reports whether the lease of addon-manager shows that none leads. It returns false if the lease cannot be read, or does not
// exist, because addon-manager can run without leader election.
func Leaderless(ctx context.Context, hub client.Reader, now time.Time) bool {
	newest, err := newestLease(ctx, hub)
	if err != nil || newest == nil {
		return false
	}
	lease := &coordinationv1.Lease{}
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(newest.Object, lease)
	return err == nil && leadership.Leader(lease, now.Add(-clockSkew)) == ""
}

func runsLifecycle(stored *unstructured.Unstructured, now time.Time) bool {
	lease := &coordinationv1.Lease{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, lease)
	return err == nil && leadership.RunsLifecycle(lease, now)
}

func timeIn(lease *unstructured.Unstructured, field string) time.Time {
	text, _, _ := unstructured.NestedString(lease.Object, "spec", field)
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return parsed
}
