package uninstall

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"open-cluster-management.io/interlock/pkg/hub/agentaddon"
)

// agentRemover has OCM take addon-agent off the managed clusters where it is an
// add-on. A cluster that is away cannot say that it is gone, and is not waited
// for longer than the share of the timeout, so that the hub is cleaned all the
// same.
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
