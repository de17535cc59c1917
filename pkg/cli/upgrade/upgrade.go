// Package upgrade is the verb of kubectl addon that shows version changes, and the dependencies that they would break.
package upgrade

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/resolve"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// ErrBreaks is returned if the new versions would break dependencies.
var ErrBreaks = errors.New("dependencies would become unsatisfied")

// maxClusters is the largest number of clusters that a row names.
const maxClusters = 3

// Upgrade is the difference between a lock and the result of resolving again.
type Upgrade struct {
	metav1.TypeMeta `json:",inline"`
	// Moves are the add-ons that would get another version.
	Moves []index.Move `json:"moves"`
	// Clusters is the number of managed clusters on which the moves were tried.
	Clusters int `json:"clusters,omitempty"`
	// NotReached is the number of managed clusters that cannot be reached.
	NotReached int `json:"notReached,omitempty"`
	// NotLocked is the number of managed clusters whose kind is not in the lock.
	NotLocked int `json:"notLocked,omitempty"`
	// Items are the edges whose verdict would change. Edges that would break come first.
	Items []Affected `json:"items"`
}

// Affected is an edge whose verdict would change on clusters of a kind.
type Affected struct {
	ClusterKind     string `json:"clusterKind,omitempty"`
	report.Affected `json:",inline"`
}

type options struct {
	genericiooptions.IOStreams
	resolve.Files
	source *source.Source
	flags  *output.Flags
	live   bool
	write  bool
	result Upgrade
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(output.Wide)}
	command := &cobra.Command{
		Use:   "upgrade [FILE]",
		Short: "Show which versions would change, and what that would break",
		Long: `Resolve the wishes of a file again, addons.yaml by default, and show which add-ons would get
another version than in addons.lock, and why. It writes nothing without --write.

With --live or --from, it also tries the new versions, with what they declare, on the managed
clusters of a hub: each cluster gets those of its kind. A cluster is of the kind whose labels
and claims it has; of several, of the kind with most of them. Clusters of no kind get the
versions that all kinds have. Dependents that the lock does not have count too.

It exits with 1 when a dependency would become unsatisfied on a cluster, and then --write
writes nothing.`,
		Example: `  # Which versions would change?
  kubectl addon upgrade addons.yaml --index index

  # Would that break anything? If not, write the lock
  kubectl addon upgrade addons.yaml --index index --live --write

  # With a package of new releases, and a file that kubectl addon snapshot has written
  kubectl addon upgrade addons.yaml --index addons.tar --from fleet.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: cmdline.RunE(func(args []string) error {
			o.SetPaths(args)
			return o.flags.Validate()
		}, o.run),
	}
	o.AddTo(command)
	command.Flags().BoolVar(&o.live, "live", false, "Try the new versions on the managed clusters of the hub.")
	command.Flags().BoolVar(&o.write, "write", false, "Write the lock, unless a dependency would become unsatisfied.")
	o.source.AddClusterFlags(command)
	o.flags.AddTo(command)
	return command
}

func (o *options) run(ctx context.Context) error {
	current, err := o.ReadLock()
	if err != nil {
		return err
	}
	locked, entries, err := o.Resolve(ctx)
	if err != nil {
		return err
	}
	o.result = Upgrade{
		TypeMeta: metav1.TypeMeta{APIVersion: report.APIVersion, Kind: "AddOnUpgrade"}, Moves: index.Moves(current, locked), Items: []Affected{},
	}
	if o.live || o.source.IsFile() {
		trials := trials(o.result.Moves, locked, entries)
		fleet, err := o.source.Snapshot(ctx, o.source.Cluster(), newObjects(trials))
		if err != nil {
			return err
		}
		o.result.try(fleet, locked, trials) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
	}
	if err := o.flags.Print(o.Out, &o.result, o.show); err != nil {
		return err
	}
	if slices.ContainsFunc(o.result.Items, func(item Affected) bool { return item.Breaks }) {
		return fmt.Errorf("%s: %w, so it stays as it is", o.Lock, ErrBreaks)
	}
	return o.writeLock(locked)
}

// writeLock writes the lock if it differs from the file.
func (o *options) writeLock(lock *index.Lock) error {
	_, err := o.CheckLock(lock)
	switch {
	case err == nil:
		fmt.Fprintf(o.ErrOut, "%s is current.\n", o.Lock)
		return nil
	case !errors.Is(err, resolve.ErrLock):
		return err
	case !o.write:
		fmt.Fprintf(o.ErrOut, "%s stays as it is: --write writes it.\n", o.Lock)
		return nil
	}
	return o.WriteLock(lock, o.ErrOut)
}

// show prints a row for each move, and for each edge that would break.
func (o *options) show() error {
	var moves, breaks [][]string
	for i := range o.result.Moves {
		move := &o.result.Moves[i]
		moves = append(moves, []string{
			text.Name(move.ClusterKind), text.Name(move.AddOn), text.Excerpt(move.OldVersion), text.Excerpt(move.NewVersion),
			text.OneLine(strings.Join(move.Because, "; ")),
		})
	}
	for i := range o.result.Items {
		if edge := &o.result.Items[i]; edge.Breaks {
			breaks = append(breaks, []string{
				text.Name(edge.ClusterKind), text.Name(edge.AddOn), text.Name(edge.Edge), string(edge.VerdictBefore), string(edge.VerdictAfter),
				o.clusterCell(edge.Clusters),
			})
		}
	}
	if len(moves) > 0 {
		if err := o.flags.Table(o.Out, []string{"CLUSTERS", "ADD-ON", "FROM", "TO", "BECAUSE"}).Print(moves); err != nil {
			return err
		}
	}
	if len(breaks) > 0 {
		fmt.Fprint(o.Out, "\nThese dependencies would become unsatisfied:\n")
		if err := o.flags.Table(o.Out, []string{"KIND", "ADD-ON", "DEPENDENCY", "NOW", "THEN", "CLUSTERS"}).Print(breaks); err != nil {
			return err
		}
	}
	parts := []string{text.Count(len(moves), "change")}
	if o.live || o.source.IsFile() {
		parts = append(parts, "tried on "+text.Count(o.result.Clusters, "managed cluster"))
	}
	fmt.Fprintln(o.ErrOut, strings.Join(append(parts, resolve.DescribeUncompared(o.result.NotReached, o.result.NotLocked)...), ", ")+".")
	return nil
}

// clusterCell returns the number of clusters, and the names of the first clusters, or of all with -o wide.
func (o *options) clusterCell(clusters []string) string {
	first := clusters
	if !o.flags.Is(output.Wide) {
		first = clusters[:min(len(clusters), maxClusters)]
	}
	cell := fmt.Sprintf("%d: %s", len(clusters), text.OneLine(strings.Join(first, ", ")))
	if len(first) < len(clusters) {
		cell += ", …"
	}
	return cell
}
