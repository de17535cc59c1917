// Package ocmstandin holds the smallest stand-ins for those parts of Open
// Cluster Management, and of Kubernetes, that cannot run where tests do: where
// there is no kubelet to run OCM's pods, or no controller beside the API server.
//
//   - klusterlet.go: OCM's registration agent and work agent of a managed cluster.
//   - addonmanager.go: OCM's addon-manager on the hub.
//   - conversion.go: OCM's conversion webhook.
//   - controllermanager.go: of kube-controller-manager on the hub, the signer of
//     client certificates and the garbage collector.
//
// They do what those do that the tests see, to real objects on real API servers,
// and nothing more: they look at everything a few times a second instead of
// watching, and do not mend what somebody breaks.
package ocmstandin

import (
	"context"
	"errors"
	"time"
)

// pace is the time between two looks.
const pace = 200 * time.Millisecond

// repeat calls do until the context ends. Errors are the report's: an API
// server may be away, and the next look makes good for it.
func repeat(ctx context.Context, report func(error), do func(context.Context) error) {
	for {
		if err := do(ctx); err != nil && !errors.Is(err, context.Canceled) {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pace):
		}
	}
}
