// Package reportcmd is the verb of kubectl addon that prints the AddOnDependencyReports of a
// fleet, even if addon-manager does not write them.
package reportcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

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
	groupBy   string
}

// html is the format of a page.
const html = "html"

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(output.Wide, output.Name, html)}
	var command *cobra.Command
	command = &cobra.Command{
		Use:   "report",
		Short: "List dependencies that are not satisfied, and their causes, by managed cluster",
		Long: `List the dependencies and requirements that are not satisfied, by managed cluster, with
their root causes and the time since when. -o json and -o yaml print AddOnDependencyReports,
as addon-manager writes them with --reports=unsatisfied, or with --all as for --reports=all.
The plugin computes them itself, so --reports can be off.

Installations and upgrades that wait for dependencies are in a list of their own.

On a managed cluster that cannot be reached, all verdicts are Held, so only --all lists
them. The reports of addon-manager keep the last known verdicts; this verb does not read
those reports.

-o html writes a page for a ticket: the root causes, a table of all add-ons by groups of
managed clusters, the graph of dependencies, and the managed clusters where an add-on does
not work. It is one file without a script, and loads nothing.`,
		Example: `  # What is not satisfied, anywhere?
  kubectl addon report

  # Every dependency of every add-on on cluster1, as data
  kubectl addon report -n cluster1 --all -o yaml

  # A page for a ticket, with the managed clusters grouped by region
  kubectl addon report -o html --group-by region > fleet.html`,
		Args: cobra.NoArgs,
		RunE: cmdline.RunE(func([]string) error { return o.validate(command) }, o.run),
	}
	o.source.AddClusterFlags(command)
	command.Flags().BoolVar(&o.satisfied, "all", false, "List all dependencies, satisfied ones too.")
	command.Flags().StringVar(&o.groupBy, groupBy, clusterv1beta2.ClusterSetLabel,
		"With -o html: group managed clusters by the values of this label.")
	o.flags.AddTo(command)
	return command
}

// groupBy is the name of the flag with the label whose values group managed clusters.
const groupBy = "group-by"

func (o *options) validate(command *cobra.Command) error {
	if err := o.flags.Validate(); err != nil {
		return err
	}
	switch {
	case command.Flags().Changed(groupBy) && !o.flags.Is(html):
		return errors.New("--group-by needs --output=html: other formats have no groups")
	case o.satisfied && o.flags.Is(html):
		return errors.New("--all and --output=html: choose one; the page counts satisfied dependencies anyway")
	}
	if problems := validation.IsQualifiedName(o.groupBy); len(problems) > 0 {
		return fmt.Errorf("--group-by=%q: must be the name of a label: %s", o.groupBy, strings.Join(problems, "; "))
	}
	return nil
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
	if o.flags.Is(html) {
		return o.printPage(fleet)
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
