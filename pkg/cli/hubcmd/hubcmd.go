// Package hubcmd is the verb of kubectl addon that installs Interlock itself on a hub, upgrades and uninstalls it.
package hubcmd

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/source"
)

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	command := &cobra.Command{
		Use:   "hub",
		Short: "Install Interlock on a hub, upgrade and uninstall it",
		Long: `Install Interlock on a hub, upgrade and uninstall it, without Helm.

These commands render the chart of a release, check the hub, and apply the objects on the
server side. What they applied, and from which values, is in the Secret interlock-release.
Objects of a Helm release are never changed.`,
	}
	command.AddCommand(newInstall(src, streams), newUpgrade(src, streams), newUninstall(src, streams))
	return command
}
