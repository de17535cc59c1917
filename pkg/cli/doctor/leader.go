package doctor

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
)

// lease reads that of addon-manager's leader.
func (h *hub) lease(ctx context.Context) (*unstructured.Unstructured, error) {
	return h.get(ctx, "coordination.k8s.io", "v1", "Lease", client.ObjectKey{Namespace: h.namespace, Name: names.AddonManager})
}

func leader(ctx context.Context, h *hub) []result {
	lease, err := h.lease(ctx)
	if err != nil {
		return unread("The lease of the leader", err)
	}
	if lease == nil {
		return []result{{unwell, "No replica of addon-manager has ever led", h.logs()}}
	}
	holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	renewed, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	at, err := time.Parse(time.RFC3339Nano, renewed)
	if holder == "" || err != nil || h.now.Sub(at) > time.Duration(seconds)*time.Second {
		return []result{{
			unwell, "No replica of addon-manager leads, so nothing is evaluated, unless one runs with --leader-elect=false. " +
				"The lease was renewed last at " + renewed,
			h.logs(),
		}}
	}
	return []result{{well, holder + " leads", ""}}
}
