// Package cli assembles kubectl addon, the plugin that shows which add-ons work, and why
// others do not.
package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/options"
	"k8s.io/kubectl/pkg/util/templates"

	"open-cluster-management.io/interlock/pkg/cli/build"
	"open-cluster-management.io/interlock/pkg/cli/completion"
	"open-cluster-management.io/interlock/pkg/cli/describe"
	"open-cluster-management.io/interlock/pkg/cli/doctor"
	"open-cluster-management.io/interlock/pkg/cli/eventscmd"
	"open-cluster-management.io/interlock/pkg/cli/graphcmd"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd"
	"open-cluster-management.io/interlock/pkg/cli/impact"
	"open-cluster-management.io/interlock/pkg/cli/indexcmd"
	"open-cluster-management.io/interlock/pkg/cli/install"
	"open-cluster-management.io/interlock/pkg/cli/lint"
	"open-cluster-management.io/interlock/pkg/cli/pack"
	"open-cluster-management.io/interlock/pkg/cli/pull"
	"open-cluster-management.io/interlock/pkg/cli/push"
	"open-cluster-management.io/interlock/pkg/cli/reportcmd"
	"open-cluster-management.io/interlock/pkg/cli/resolve"
	"open-cluster-management.io/interlock/pkg/cli/runbook"
	"open-cluster-management.io/interlock/pkg/cli/snapshotcmd"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/statuscmd"
	"open-cluster-management.io/interlock/pkg/cli/suggest"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/cli/tree"
	"open-cluster-management.io/interlock/pkg/cli/uicmd"
	"open-cluster-management.io/interlock/pkg/cli/uninstallcmd"
	"open-cluster-management.io/interlock/pkg/cli/upgrade"
	"open-cluster-management.io/interlock/pkg/cli/verify"
	"open-cluster-management.io/interlock/pkg/cli/versioncmd"
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
	command.SetOut(streams.Out) // help fits itself to a terminal
	colors := terminal.Auto
	streams.Out = terminal.WithColors(streams.Out, &colors)
	if messages, ok := streams.ErrOut.(*terminal.Messages); ok {
		streams.Out = messages.Above(streams.Out)
	}
	config := genericclioptions.NewConfigFlags(true)
	config.AddFlags(command.PersistentFlags())
	from := &source.Source{Config: config, In: streams.In, ErrOut: streams.ErrOut}
	from.AddFlags(command.PersistentFlags())
	command.PersistentFlags().Var(&colors, "color", "Whether output for people has colors: "+strings.Join(terminal.ColorModes, ", ")+
		". auto colors a terminal, unless NO_COLOR is set.")
	groups := groupsOf(from, streams)
	groups.Add(command)
	command.AddCommand(snapshotcmd.NewCommand(from, streams), versioncmd.NewCommand(from, streams), options.NewCmdOptions(streams.Out))
	completion.Register(command, from)
	useTemplates(command, groups)
	return command
}

// useTemplates gives all commands the help of kubectl.
func useTemplates(root *cobra.Command, groups templates.CommandGroups) {
	templates.ActsAsRootCommand(root, []string{"options"}, groups...)
	for _, verb := range root.Commands() {
		for _, command := range append(verb.Commands(), verb) {
			command.DisableFlagsInUseLine = true // kubectl's template adds [options]
		}
	}
	// The template takes the name of the file for the name of the plugin.
	usage := root.UsageFunc()
	root.SetUsageFunc(func(command *cobra.Command) error {
		var page bytes.Buffer
		out := command.OutOrStderr()
		command.SetOut(&page)
		defer command.SetOut(out)
		err := usage(command)
		_, writeErr := io.WriteString(out, strings.ReplaceAll(page.String(), `"`+root.Name()+" ", `"`+root.CommandPath()+" "))
		return errors.Join(err, writeErr)
	})
}

// groupsOf returns the verbs in the groups that the help has.
func groupsOf(from *source.Source, streams genericiooptions.IOStreams) templates.CommandGroups {
	type verb func(*source.Source, genericiooptions.IOStreams) *cobra.Command
	var groups templates.CommandGroups
	for _, group := range []struct {
		message string
		verbs   []verb
	}{
		{"Troubleshooting Commands:", []verb{
			why.NewCommand, statuscmd.NewCommand, tree.NewCommand, graphcmd.NewCommand, eventscmd.NewCommand, reportcmd.NewCommand, uicmd.NewCommand,
			doctor.NewCommand, runbook.NewCommand,
		}},
		{"Planning Commands:", []verb{impact.NewCommand, describe.NewCommand, lint.NewCommand, suggest.NewCommand}},
		{"Installation Commands:", []verb{install.NewCommand, uninstallcmd.NewCommand, wait.NewCommand}},
		{"Version Selection Commands:", []verb{
			indexcmd.NewCommand, resolve.NewCommand, build.NewCommand, verify.NewCommand, upgrade.NewCommand,
		}},
		{"Hub Commands:", []verb{hubcmd.NewCommand}},
		{"Package Commands:", []verb{pack.NewCommand, push.NewCommand, pull.NewCommand}},
	} {
		var commands []*cobra.Command
		for _, newCommand := range group.verbs {
			commands = append(commands, newCommand(from, streams))
		}
		groups = append(groups, templates.CommandGroup{Message: group.message, Commands: commands})
	}
	return groups
}
