// Package tree is the verb of kubectl addon that draws the dependencies or dependents of an add-on.
package tree

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
)

type options struct {
	genericiooptions.IOStreams
	source     *source.Source
	flags      *output.Flags
	dependents bool
	grouping   bool
	addOn      string
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(output.Wide)}
	command := &cobra.Command{
		Use:   "tree ADDON",
		Short: "Draw what an add-on depends on, or what depends on it",
		Long: `Draw the dependencies of an add-on, direct and indirect, with the verdict on each and its
Available. Managed clusters with the same tree share one. Clusters where all is well come
last, in one line.`,
		Example: `  # What cluster-gateway depends on, over the fleet
  kubectl addon tree cluster-gateway

  # On one managed cluster
  kubectl addon tree cluster-gateway -n cluster1

  # What depends on managed-serviceaccount
  kubectl addon tree managed-serviceaccount --dependents`,
		Args: cobra.ExactArgs(1),
		RunE: cmdline.RunE(func(args []string) error {
			o.addOn = args[0]
			return o.flags.Validate()
		}, o.run),
	}
	o.source.AddClusterFlags(command)
	command.Flags().BoolVar(&o.dependents, "dependents", false, "Draw what depends on the add-on.")
	command.Flags().BoolVar(&o.grouping, "grouping", true,
		"Draw one tree for all managed clusters with the same, and one line for those where all is well.")
	o.flags.AddTo(command)
	return command
}

func (o *options) run(ctx context.Context) error {
	cluster := o.source.Cluster()
	fleet, err := o.source.Snapshot(ctx, cluster)
	if err != nil {
		return err
	}
	direction, check := report.Dependencies, source.CheckInstalled
	if o.dependents {
		direction, check = report.Dependents, source.CheckNeeded
	}
	if err := check(fleet, o.addOn, cluster); err != nil {
		return err
	}
	trees := report.FindTrees(fleet, o.addOn, cluster, direction, o.grouping)
	return o.flags.Print(o.Out, trees, func() error {
		if len(trees.Items) == 0 {
			return fmt.Errorf("neither %q nor an add-on that depends on it is installed: kubectl addon describe %s shows what is declared",
				o.addOn, o.addOn)
		}
		return draw(o.Out, trees, o)
	})
}
