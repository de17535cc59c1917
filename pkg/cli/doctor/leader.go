package doctor

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
)

// lease reads the Lease of addon-manager's leader.
func (h *hub) lease(ctx context.Context) (*unstructured.Unstructured, error) {
	return h.Object(ctx, "coordination.k8s.io", "v1", "Lease", client.ObjectKey{Namespace: h.Namespace, Name: names.AddonManager})
}

func checkLeader(ctx context.Context, h *hub) []result {
	lease, err := h.lease(ctx)
	if err != nil {
		return unreadable("The lease of the leader", err)
	}
	if lease == nil {
		return []result{{failed, "No replica of addon-manager has ever led", h.logs()}}
	}
	holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	renewTime, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	lastRenewal, err := time.Parse(time.RFC3339Nano, renewTime)
	if holder == "" || err != nil || h.now.Sub(lastRenewal) > time.Duration(seconds)*time.Second {
		return []result{{
			failed, "No replica of addon-manager leads, so nothing is evaluated, unless one runs with --leader-elect=false. " +
				"The lease was renewed last at " + renewTime,
			h.logs(),
		}}
	}
	return []result{{passed, holder + " leads", ""}}
}
