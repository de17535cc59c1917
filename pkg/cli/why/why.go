// Package why is the verb of kubectl addon that finds the root causes that keep add-ons
// of a fleet from working.
package why

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
)

type options struct {
	genericiooptions.IOStreams
	source *source.Source
	flags  *output.Flags
	filter report.Filter
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(output.Wide)}
	command := &cobra.Command{
		Use:   "why [ADDON]",
		Short: "Find the root causes that keep add-ons from working",
		Long: `Find the root causes that keep add-ons of the fleet from working. Where a dependency fails
because of a dependency of its own, the root cause is at the end of that chain. The one
that breaks most comes first, with what it breaks, since when, what the affected managed
clusters have in common, and what to run next.

With ADDON and -n CLUSTER, it shows the way from that add-on to its root causes. For an
add-on that is not installed, it shows what breaks because of that. -o wide names all
clusters and add-ons.

Managed clusters that cannot be reached do not count, because nothing new is known of them.
At the end, it counts add-ons that were Degraded when their cluster was lost, and add-ons
whose Degraded is out of date.`,
		Example: `  # What breaks most in the whole fleet?
  kubectl addon why

  # Why does cluster-gateway fail, on all managed clusters?
  kubectl addon why cluster-gateway

  # Why does it fail on cluster1?
  kubectl addon why cluster-gateway -n cluster1`,
		Args: cobra.MaximumNArgs(1),
		RunE: cmdline.RunE(o.complete, o.run),
	}
	o.source.AddClusterFlags(command)
	o.flags.AddTo(command)
	return command
}

func (o *options) complete(args []string) error {
	var err error
	if o.filter.AddOn, err = source.AddOn(args); err != nil {
		return err
	}
	o.filter.Cluster = o.source.Cluster()
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
	causes := report.FindRootCauses(fleet, o.filter)
	return o.flags.Print(o.Out, causes, func() error { //nolint:contextcheck // a snapshot reads nothing that can be interrupted
		p := &printer{
			out:    o.Out,
			screen: terminal.ScreenOf(o.Out),
			source: o.source,
			fleet:  fleet,
			causes: causes,
			filter: o.filter,
			wide:   o.flags.Is(output.Wide),
		}
		if o.filter.AddOn == "" || o.filter.Cluster == "" || causes.NotInstalled != "" {
			return p.printCauses()
		}
		return p.printPaths()
	})
}
