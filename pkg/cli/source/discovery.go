package source

import (
	"fmt"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
