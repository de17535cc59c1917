// Package cli assembles kubectl addon, the plugin that shows people what
// Interlock knows of their add-ons.
package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/status"
)

// NewCommand returns the plugin's root command.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	command := &cobra.Command{
		Use:   "kubectl-addon",
		Short: "See which Open Cluster Management add-ons work, and why others do not",
		Long: `kubectl addon shows what keeps Open Cluster Management add-ons from working.
Point it at the hub: with --kubeconfig, --context, or the current context.`,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl addon"},
	}
	config := genericclioptions.NewConfigFlags(true)
	config.AddFlags(command.PersistentFlags())
	command.AddCommand(status.NewCommand(config, streams))
	command.SetOut(streams.Out)
	return command
}
