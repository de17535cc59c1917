package uninstall

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"open-cluster-management.io/interlock/pkg/hub/agentaddon"
)

// agentRemover deletes addon-agent as an add-on, and waits until OCM has removed
// it from the managed clusters. It waits at most for its share of the timeout,
// because an unreachable cluster never confirms the removal.
type agentRemover struct {
	config *rest.Config
	share  time.Duration
}

func (r *agentRemover) run(ctx context.Context) (string, error) {
	hub, err := metadata.NewForConfig(r.config)
	if err != nil {
		return "", fmt.Errorf("create metadata client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, r.share)
	defer cancel()
	if err := agentaddon.Remove(ctx, hub); err != nil {
		return "", err
	}
	return "is not installed as an add-on on any cluster", nil
}
