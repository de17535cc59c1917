// Command ocm is five programs of OCM in one: registration, addon, placement, work and registration-operator. The
// name of the symbolic link that starts it selects the program. To link one program takes less time than to link
// five.
//
// Under its own name it serves OCM's webhooks (webhooks.go), and the agent of
// registration has two flags more (periods.go).
package main

import (
	goflag "flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	utilflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"
	"k8s.io/component-base/logs"
	ocmfeature "open-cluster-management.io/api/feature"
	"open-cluster-management.io/ocm/pkg/cmd/hub"
	"open-cluster-management.io/ocm/pkg/cmd/spoke"
	"open-cluster-management.io/ocm/pkg/cmd/webhook"
	"open-cluster-management.io/ocm/pkg/features"
	"open-cluster-management.io/ocm/pkg/version"
)

// program is a program of OCM, equal to a main function in the folder cmd of OCM.
type program struct {
	commands func() []*cobra.Command
	// gates are the hub's feature gates for which the program has flags.
	gates map[featuregate.Feature]featuregate.FeatureSpec
}

var programs = map[string]program{
	"registration": {
		commands: func() []*cobra.Command {
			return []*cobra.Command{hub.NewRegistrationController(), withPeriods(spoke.NewRegistrationAgent()), webhook.NewRegistrationWebhook()}
		},
		gates: ocmfeature.DefaultHubRegistrationFeatureGates,
	},
	"work": {
		commands: func() []*cobra.Command {
			return []*cobra.Command{spoke.NewWorkAgent(), webhook.NewWorkWebhook(), hub.NewWorkController()}
		},
		gates: ocmfeature.DefaultHubWorkFeatureGates,
	},
	"addon": {commands: func() []*cobra.Command {
		return []*cobra.Command{hub.NewAddonManager(), webhook.NewAddonWebhook()}
	}},
	"placement": {commands: func() []*cobra.Command {
		return []*cobra.Command{hub.NewPlacementController()}
	}},
	"registration-operator": {commands: func() []*cobra.Command {
		return []*cobra.Command{hub.NewHubOperatorCmd(), spoke.NewKlusterletOperatorCmd(), spoke.NewKlusterletAgentCmd()}
	}},
	"ocm": {
		commands: func() []*cobra.Command {
			return []*cobra.Command{newWebhooks()}
		},
		gates: ocmfeature.DefaultHubRegistrationFeatureGates,
	},
}

func main() {
	name := filepath.Base(os.Args[0])
	selected, ok := programs[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "OCM has no program %q; it has registration, addon, placement, work and registration-operator\n", name)
		os.Exit(2)
	}
	pflag.CommandLine.SetNormalizeFunc(utilflag.WordSepNormalizeFunc)
	pflag.CommandLine.AddGoFlagSet(goflag.CommandLine)
	logs.AddFlags(pflag.CommandLine)
	logs.InitLogs()
	if selected.gates != nil {
		utilruntime.Must(features.HubMutableFeatureGate.Add(selected.gates))
		features.HubMutableFeatureGate.AddFlag(pflag.CommandLine)
	}
	root := &cobra.Command{Use: name, Version: version.Get().String()}
	root.AddCommand(selected.commands()...)
	err := root.Execute()
	logs.FlushLogs()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
