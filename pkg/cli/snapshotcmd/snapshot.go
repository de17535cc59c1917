// Package snapshotcmd is the verb of kubectl addon that writes the inputs of evaluation to a
// file, which the other verbs read elsewhere.
package snapshotcmd

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
)

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	command := &cobra.Command{
		Use:   "snapshot [FILE|-]",
		Short: "Write the state of the fleet to a file",
		Long: `Write the inputs of the evaluation of dependencies to a file, or to standard output. The
other verbs read the file with --from, without a hub.

The file has what add-ons declare, the placements that install them, their conditions and
versions, and names, labels, claims, taints and versions of managed clusters. Where a
dependency is missing, it has the clusters that its placements select. Of labels and
annotations of add-ons, and of variables of AddOnDeploymentConfigs, it has only those that
the expression of a dependency reads. It has no Secrets, no proxy configuration, no other
specs and no managedFields. What looks like a credential in a message or a claim is
replaced: read the file before you pass it on.`,
		Example: `  # For a colleague, or a bug report
  kubectl addon snapshot fleet.json
  kubectl addon why --from fleet.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return run(command.Context(), src, streams, args)
		},
	}
	src.AddClusterFlags(command)
	return command
}

func run(ctx context.Context, src *source.Source, streams genericiooptions.IOStreams, args []string) error {
	fleet, err := src.Snapshot(ctx, src.Cluster())
	if err != nil {
		return err
	}
	if len(args) == 0 || args[0] == "-" {
		return fleet.Write(streams.Out)
	}
	if err := write(fleet, args[0]); err != nil {
		return err
	}
	fmt.Fprintf(streams.ErrOut, "%s has %d add-ons on %s. Read it with --from %s.\n",
		args[0], len(fleet.AddOns), report.ReachOf(fleet).TotalString(), args[0])
	return nil
}

// write writes a file that only its owner can read.
func write(fleet *snapshot.Snapshot, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	if err := fleet.Write(file); err != nil {
		_ = file.Close() // the first error counts
		return fmt.Errorf("write %s: %w", path, err)
	}
	return file.Close()
}
