// Package why is the verb of kubectl addon that finds the causes by which add-ons of a
// fleet do not work.
package why

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
)

type options struct {
	genericiooptions.IOStreams
	source        *source.Source
	flags         *output.Flags
	allNamespaces bool
	filter        report.Filter
}

// NewCommand returns the verb.
func NewCommand(from *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: from, flags: output.NewFlags(output.Wide)}
	command := &cobra.Command{
		Use:   "why [ADDON]",
		Short: "Find the causes by which add-ons do not work",
		Long: `Find the causes by which add-ons of the fleet do not work. Where a dependency fails
because of a dependency of its own, the cause is at the end of that chain. The cause
that breaks most comes first, with what it breaks, since when, what the affected
managed clusters have in common that others do not, and what to run next.

With an add-on and -n CLUSTER, it shows the way from that add-on to its causes. For an
add-on that is not installed, it shows what breaks because of that. -o wide names all
clusters and add-ons.
Managed clusters that cannot be reached are left out: nothing new is known of them. It
counts their add-ons that were Degraded last, and those where addon-manager does not
follow the verdicts.`,
		Example: `  # What breaks most in the whole fleet?
  kubectl addon why

  # Why does cluster-gateway not work, wherever it does not?
  kubectl addon why cluster-gateway

  # Why does it not work on cluster1?
  kubectl addon why cluster-gateway -n cluster1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(command.Context())
		},
	}
	command.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Look at all managed clusters, which is the default without -n.")
	o.flags.AddTo(command)
	return command
}

func (o *options) complete(args []string) error {
	var err error
	if o.filter.AddOn, err = source.AddOn(args); err != nil {
		return err
	}
	o.filter.Cluster = o.source.Cluster(o.allNamespaces)
	return o.flags.Validate()
}

func (o *options) run(ctx context.Context) error {
	fleet, err := o.source.Snapshot(ctx, o.filter.Cluster)
	if err != nil {
		return err
	}
	if o.filter.AddOn != "" {
		if err := source.CheckNeeded(fleet, o.filter.AddOn, o.filter.Cluster); err != nil {
			return err
		}
	}
	found := report.FindRootCauses(fleet, o.filter)
	return o.flags.Print(o.Out, found, func() error { //nolint:contextcheck // a snapshot reads nothing that can be interrupted
		p := &printer{out: o.Out, screen: terminal.Of(o.Out), source: o.source, fleet: fleet, found: found, filter: o.filter, wide: o.flags.Is(output.Wide)}
		if o.filter.AddOn == "" || o.filter.Cluster == "" || found.NotInstalled != "" {
			return p.printCauses()
		}
		return p.printPaths()
	})
}
