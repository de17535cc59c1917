// Package cli assembles kubectl addon, the plugin that shows which add-ons work, and why
// others do not.
package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/build"
	"open-cluster-management.io/interlock/pkg/cli/completion"
	"open-cluster-management.io/interlock/pkg/cli/describe"
	"open-cluster-management.io/interlock/pkg/cli/doctor"
	"open-cluster-management.io/interlock/pkg/cli/eventscmd"
	"open-cluster-management.io/interlock/pkg/cli/graphcmd"
	"open-cluster-management.io/interlock/pkg/cli/impact"
	"open-cluster-management.io/interlock/pkg/cli/indexcmd"
	"open-cluster-management.io/interlock/pkg/cli/install"
	"open-cluster-management.io/interlock/pkg/cli/lint"
	"open-cluster-management.io/interlock/pkg/cli/pack"
	"open-cluster-management.io/interlock/pkg/cli/pull"
	"open-cluster-management.io/interlock/pkg/cli/push"
	"open-cluster-management.io/interlock/pkg/cli/reportcmd"
	"open-cluster-management.io/interlock/pkg/cli/resolve"
	"open-cluster-management.io/interlock/pkg/cli/snapshotcmd"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/statuscmd"
	"open-cluster-management.io/interlock/pkg/cli/suggest"
	"open-cluster-management.io/interlock/pkg/cli/tree"
	"open-cluster-management.io/interlock/pkg/cli/uninstallcmd"
	"open-cluster-management.io/interlock/pkg/cli/upgrade"
	"open-cluster-management.io/interlock/pkg/cli/verify"
	"open-cluster-management.io/interlock/pkg/cli/wait"
	"open-cluster-management.io/interlock/pkg/cli/why"
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
	from := &source.Source{Config: config, In: streams.In, ErrOut: streams.ErrOut}
	from.AddFlags(command.PersistentFlags())
	for _, verb := range []func(*source.Source, genericiooptions.IOStreams) *cobra.Command{
		why.NewCommand, tree.NewCommand, graphcmd.NewCommand, eventscmd.NewCommand, wait.NewCommand, install.NewCommand,
		uninstallcmd.NewCommand, statuscmd.NewCommand, reportcmd.NewCommand, impact.NewCommand, describe.NewCommand, lint.NewCommand, suggest.NewCommand,
		doctor.NewCommand, snapshotcmd.NewCommand, indexcmd.NewCommand, resolve.NewCommand, build.NewCommand, verify.NewCommand,
		pack.NewCommand, push.NewCommand, pull.NewCommand, upgrade.NewCommand,
	} {
		command.AddCommand(verb(from, streams))
	}
	completion.Register(command, from)
	command.SetOut(streams.Out)
	return command
}
