package source

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// discoverer is a client that also discovers the APIs of the hub.
type discoverer struct {
	client.WithWatch
	config *rest.Config
}

var _ snapshot.Discoverer = discoverer{}

// Discovery implements snapshot.Discoverer.
func (d discoverer) Discovery() (apidiscovery.API, error) {
	documents, err := discovery.NewDiscoveryClientForConfig(d.config)
	if err != nil {
		return apidiscovery.API{}, cmdline.HubError(fmt.Errorf("reach the hub: %w", err))
	}
	return apidiscovery.API{REST: documents.RESTClient(), Client: "the plugin's user"}, nil
}

// KubernetesVersion reads the version of the hub's API server. Every user may read it.
func (s *Source) KubernetesVersion(ctx context.Context) (string, error) {
	hub, host, err := s.dial(timeout, fleet.SkipUnread)
	if err != nil {
		return "", err
	}
	api, err := hub.Discovery()
	if err != nil {
		return "", err
	}
	raw, err := api.REST.Get().AbsPath("/version").DoRaw(ctx)
	if err != nil {
		return "", HubError(fmt.Errorf("read the version of the hub: %w", err), host)
	}
	var info version.Info
	if err := json.Unmarshal(raw, &info); err != nil {
		return "", HubError(fmt.Errorf("read the version of the hub: %w", err), host)
	}
	return info.GitVersion, nil
}
