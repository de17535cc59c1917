// Package graphcmd is the verb of kubectl addon that writes the graph of dependencies, for documents and for programs that draw it.
package graphcmd

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/drawing"
)

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	flags := output.NewFlags()
	format := "mermaid"
	command := &cobra.Command{
		Use:   "graph [ADDON]",
		Short: "Write the graph of dependencies, for documents",
		Long: `Write the graph of dependencies as Mermaid, DOT or a picture (SVG). Each add-on shows the
number of managed clusters where it is available, not available, or not known. Dependencies
that fail somewhere are red. With ADDON, the graph has this add-on, all its dependencies
and all its dependents.`,
		Example: `  # In Markdown
  kubectl addon graph

  # As a picture, for a document or a browser
  kubectl addon graph --format svg > addons.svg

  # With another layout, by Graphviz
  kubectl addon graph --format dot | neato -Tsvg > addons.svg

  # Around one add-on, on one managed cluster
  kubectl addon graph cluster-gateway -n cluster1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := flags.Validate(); err != nil {
				return cmdline.UsageError(err)
			}
			write, ok := formats[format]
			if !ok {
				return cmdline.UsageError(fmt.Errorf("--format=%q: must be mermaid, dot or svg", format))
			}
			graph, err := findGraph(command.Context(), src, src.Cluster(), args)
			if err != nil {
				return err
			}
			return flags.Print(streams.Out, graph, func() error { return write(streams.Out, graph) })
		},
	}
	command.Flags().StringVar(&format, "format", format, "Format of the graph: mermaid, dot or svg.")
	src.AddClusterFlags(command)
	flags.AddTo(command)
	return command
}

var formats = map[string]func(io.Writer, *report.Graph) error{"mermaid": drawing.Mermaid, "dot": drawing.DOT, "svg": drawing.SVG}

func findGraph(ctx context.Context, src *source.Source, cluster string, args []string) (*report.Graph, error) {
	addOn := ""
	if len(args) == 1 {
		addOn = args[0]
	}
	fleet, err := src.Snapshot(ctx, cluster)
	if err != nil {
		return nil, err
	}
	graph := report.FindGraph(fleet, cluster, addOn)
	if addOn != "" && len(graph.Nodes) == 0 {
		return nil, fmt.Errorf("add-on %q is neither registered nor depended upon: kubectl get clustermanagementaddons lists what is", addOn)
	}
	return graph, nil
}
