package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"open-cluster-management.io/interlock/pkg/hub/agentaddon"
)

const (
	flagInstallAgent   = "install-agent"
	flagAgentImage     = "agent-image"
	flagAgentPlacement = "agent-placement"
)

// globalPlacement is the one that OCM makes for all managed clusters.
const globalPlacement = "open-cluster-management-global-set/global"

// agentOptions say whether and how addon-agent is installed on managed clusters.
type agentOptions struct {
	install          bool
	image, placement string
}

func (o *agentOptions) addFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.install, flagInstallAgent, false,
		"Install addon-agent on managed clusters, as an add-on of Open Cluster Management. Without it, whatever is installed stays as it is.")
	flags.StringVar(&o.image, flagAgentImage, "", "Image of addon-agent. Required with --install-agent.")
	flags.StringVar(&o.placement, flagAgentPlacement, globalPlacement,
		`Placement, as namespace/name, that selects the managed clusters for --install-agent; "" for those only that are given a ManagedClusterAddOn by hand.`)
}

// complete returns what valid flags ask for, nil for nothing.
func (o *agentOptions) complete() (*agentaddon.Options, error) {
	if !o.install {
		return nil, nil
	}
	if o.image == "" {
		return nil, fmt.Errorf("--%s is required with --%s: the image of addon-agent", flagAgentImage, flagInstallAgent)
	}
	if strings.ContainsAny(o.image, " \t\n") {
		return nil, fmt.Errorf("--%s=%q: must be the reference of an image", flagAgentImage, o.image)
	}
	placement, err := o.parsePlacement()
	return &agentaddon.Options{Image: o.image, Placement: placement}, err
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
