// Package why is the verb of kubectl addon that finds the root causes that keep add-ons
// of a fleet from working.
package why

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
)

type options struct {
	genericiooptions.IOStreams
	source *source.Source
	flags  *output.Flags
	filter report.Filter
	watch  bool
	live   bool
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
whose Degraded is out of date.

Without ADDON, -n, -l, -o and -w, it reads the AddOnFleetReport that addon-manager --reports keeps,
and of a few managed clusters what the next steps depend on. That takes a second on a hub of
any size. It prints how old the report is. With --live, and on a hub without the report, it
reads all managed clusters.`,
		Example: `  # What breaks most in the whole fleet?
  kubectl addon why

  # Why does cluster-gateway fail, on all managed clusters?
  kubectl addon why cluster-gateway

  # Why does it fail on cluster1?
  kubectl addon why cluster-gateway -n cluster1

  # While you repair it
  kubectl addon why -l environment=production -w`,
		Args: cobra.MaximumNArgs(1),
		RunE: cmdline.RunE(o.complete, o.run),
	}
	o.source.AddClusterFlags(command)
	command.Flags().BoolVarP(&o.watch, "watch", "w", false, "Show the causes again with each change, until interrupted.")
	command.Flags().BoolVar(&o.live, "live", false, source.Live)
	o.flags.AddTo(command)
	return command
}

func (o *options) complete(args []string) error {
	var err error
	if o.filter.AddOn, err = source.AddOn(args); err != nil {
		return err
	}
	o.filter.Cluster = o.source.Cluster()
	if err := o.flags.Validate(); err != nil {
		return err
	}
	switch {
	case o.live && o.source.IsFile():
		return errors.New("--live and --from: choose one; a file is not the state of a hub now")
	case o.watch && o.source.IsFile():
		return errors.New("--watch and --from: choose one; a file does not change")
	case o.watch && o.flags.IsData():
		return errors.New("--watch and --output: a watch prints text for people, also with -o wide")
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	if o.watch {
		return o.runWatch(ctx)
	}
	stored, err := o.storedReport(ctx)
	switch {
	case err != nil:
		return err
	case stored != nil:
		return o.printStored(ctx, stored)
	}
	fleet, err := o.read(ctx)
	if err != nil {
		return err
	}
	return o.print(o.Out, fleet, report.FindRootCauses(fleet, o.filter)) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
}

// read reads the fleet. It returns an error if the named add-on neither is installed nor has dependents.
func (o *options) read(ctx context.Context) (*snapshot.Snapshot, error) {
	fleet, err := o.source.Snapshot(ctx, o.filter.Cluster)
	if err != nil || o.filter.AddOn == "" {
		return fleet, err
	}
	return fleet, source.CheckNeeded(fleet, o.filter.AddOn, o.filter.Cluster)
}

func (o *options) print(out io.Writer, fleet *snapshot.Snapshot, causes *report.RootCauses) error {
	return o.flags.Print(out, causes, func() error {
		p := &printer{
			out:    out,
			screen: terminal.ScreenOf(out),
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
