package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"open-cluster-management.io/interlock/pkg/hub/setup/agentaddon"
)

const (
	flagGrantAgent     = "grant-agent-rights"
	flagInstallAgent   = "install-agent"
	flagAgentImage     = "agent-image"
	flagAgentPlacement = "agent-placement"
)

// globalPlacement is the Placement that OCM creates for all managed clusters.
const globalPlacement = "open-cluster-management-global-set/global"

// agentOptions configure the setup of addon-agent as an add-on.
type agentOptions struct {
	grant, install   bool
	image, placement string
}

func (o *agentOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.grant, flagGrantAgent, false,
		"Give each addon-agent that runs as the add-on "+agentaddon.Name+" its rights on the hub, in the namespace of its cluster.")
	flags.BoolVar(&o.install, flagInstallAgent, false,
		"Deprecated: apply deploy/agent-addon instead. Install addon-agent on managed clusters as an add-on of Open Cluster Management, with --grant-agent-rights.")
	flags.StringVar(&o.image, flagAgentImage, "", "Deprecated, as --install-agent: image of addon-agent. Required with --install-agent.")
	flags.StringVar(&o.placement, flagAgentPlacement, globalPlacement,
		`Deprecated, as --install-agent: Placement, as namespace/name, that selects the managed clusters. If empty, you create a ManagedClusterAddOn `+agentaddon.Name+` for each.`)
}

// complete returns the setup that valid flags request. It is nil if they request none.
func (o *agentOptions) complete() (*agentaddon.Options, error) {
	if !o.install {
		if o.grant {
			return &agentaddon.Options{}, nil
		}
		return nil, nil
	}
	if o.image == "" {
		return nil, fmt.Errorf("--%s is required with --%s: the image of addon-agent", flagAgentImage, flagInstallAgent)
	}
	if strings.ContainsAny(o.image, " \t\n") {
		return nil, fmt.Errorf("--%s=%q: must be the reference of an image", flagAgentImage, o.image)
	}
	placement, err := o.parsePlacement()
	return &agentaddon.Options{Install: &agentaddon.Installation{Image: o.image, Placement: placement}}, err
}

func (o *agentOptions) parsePlacement() (types.NamespacedName, error) {
	if o.placement == "" {
		return types.NamespacedName{}, nil
	}
	namespace, name, _ := strings.Cut(o.placement, "/")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return types.NamespacedName{}, fmt.Errorf("--%s=%q: must be namespace/name, or empty", flagAgentPlacement, o.placement)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}
