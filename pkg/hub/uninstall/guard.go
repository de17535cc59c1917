package uninstall

import (
	"context"
	"fmt"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/guard/installer"
)

type guardRemover struct {
	hub    client.Client
	config *rest.Config
}

func (r *guardRemover) run(ctx context.Context) (string, error) {
	served, err := discovery.NewDiscoveryClientForConfig(r.config)
	if err != nil {
		return "", fmt.Errorf("create discovery client: %w", err)
	}
	if err := installer.Remove(ctx, r.hub, served); err != nil {
		return "", err
	}
	return "is not in force", nil
}
