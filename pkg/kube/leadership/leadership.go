// Package leadership reads the leader of addon-manager from the lease of its leader election.
package leadership

import (
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// Uninstalling is the prefix of the lease holder's name during an uninstallation. No addon-manager leads then.
const Uninstalling = "interlock-uninstall"

// Leader returns the current leader according to the lease. It is empty if there is none. A leader that stops releases the lease. A leader
// that died no longer renews it.
func Leader(lease *coordinationv1.Lease, now time.Time) string {
	identity := ptr.Deref(lease.Spec.HolderIdentity, "")
	if identity == "" || strings.HasPrefix(identity, Uninstalling) || lease.Spec.RenewTime == nil {
		return ""
	}
	expires := lease.Spec.RenewTime.Add(time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second)
	if !now.Before(expires) {
		return ""
	}
	return identity
}
