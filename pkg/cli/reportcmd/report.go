// Package reportcmd is the verb of kubectl addon that prints the AddOnDependencyReports of a
// fleet, even if addon-manager does not write them.
package reportcmd

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
)

type options struct {
	genericiooptions.IOStreams
	source    *source.Source
	flags     *output.Flags
	satisfied bool
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(output.Wide, output.Name)}
	command := &cobra.Command{
		Use:   "report",
		Short: "List dependencies that are not satisfied, and their causes, by managed cluster",
		Long: `List the dependencies and requirements that are not satisfied, by managed cluster, with
their root causes and the time since when. -o json and -o yaml print AddOnDependencyReports,
as addon-manager writes them with --reports=unsatisfied, or with --all as for --reports=all.
The plugin computes them itself, so --reports can be off.

Installations and upgrades that wait for dependencies are in a list of their own.

On a managed cluster that cannot be reached, all verdicts are Held, so only --all lists
them. The reports of addon-manager keep the last known verdicts; this verb does not read
those reports.`,
		Example: `  # What is not satisfied, anywhere?
  kubectl addon report

  # Every dependency of every add-on on cluster1, as data
  kubectl addon report -n cluster1 --all -o yaml`,
		Args: cobra.NoArgs,
		RunE: cmdline.RunE(func([]string) error { return o.flags.Validate() }, o.run),
	}
	o.source.AddClusterFlags(command)
	command.Flags().BoolVar(&o.satisfied, "all", false, "List all dependencies, satisfied ones too.")
	o.flags.AddTo(command)
	return command
}

func (o *options) run(ctx context.Context) error {
	cluster, scope := o.source.Cluster(), dependencyv1alpha1.ReportUnsatisfied
	if o.satisfied {
		scope = dependencyv1alpha1.ReportAll
	}
	fleet, err := o.source.Snapshot(ctx, cluster)
	if err != nil {
		return err
	}
	reports := report.OnClusters(fleet, cluster, scope)
	if o.flags.Chosen() && !o.flags.Is(output.Wide) {
		o.printLost(o.ErrOut, fleet, cluster)
	}
	return o.flags.Print(o.Out, reports, func() error {
		if o.flags.Is(output.Name) {
			return printNames(o.Out, reports)
		}
		if err := o.printReports(reports, fleet, cluster); err != nil {
			return err
		}
		o.printLost(o.Out, fleet, cluster)
		return nil
	})
}
