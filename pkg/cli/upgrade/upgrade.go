// Package upgrade is the verb of kubectl addon that shows which versions would change, and what that would break.
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
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/index"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// ErrBreaks is returned where the new versions would break dependencies.
var ErrBreaks = errors.New("dependencies would become unsatisfied")

// maxClusters is how many clusters are named.
const maxClusters = 3

// Upgrade is what would change between a lock and what is resolved now.
type Upgrade struct {
	metav1.TypeMeta `json:",inline"`
	// Moves are the add-ons that would get another version.
	Moves []index.Move `json:"moves"`
	// Clusters is on how many managed clusters it was tried, NotReached how many could not be, and NotLocked how many are of no
	// kind that the lock has.
	Clusters   int `json:"clusters,omitempty"`
	NotReached int `json:"notReached,omitempty"`
	NotLocked  int `json:"notLocked,omitempty"`
	// Items are the edges whose verdict would be another one, those that would break first.
	Items []Affected `json:"items"`
}

// Affected is an edge whose verdict would be another one on clusters of a kind.
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
	found  Upgrade
}

// NewCommand returns the verb.
func NewCommand(from *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: from, flags: output.NewFlags(output.Wide)}
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
			o.Named(args)
			return o.flags.Validate()
		}, o.run),
	}
	o.AddTo(command)
	command.Flags().BoolVar(&o.live, "live", false, "Try the new versions on the managed clusters of the hub.")
	command.Flags().BoolVar(&o.write, "write", false, "Write the lock, unless a dependency would become unsatisfied.")
	o.flags.AddTo(command)
	return command
}

func (o *options) run(ctx context.Context) error {
	before, err := o.ReadLock()
	if err != nil {
		return err
	}
	after, entries, err := o.Resolve(ctx)
	if err != nil {
		return err
	}
	o.found = Upgrade{
		TypeMeta: metav1.TypeMeta{APIVersion: report.APIVersion, Kind: "AddOnUpgrade"}, Moves: index.Moves(before, after), Items: []Affected{},
	}
	if o.live || o.source.IsFile() {
		by := trials(o.found.Moves, after, entries)
		fleet, err := o.source.Snapshot(ctx, *o.source.Config.Namespace, also(by))
		if err != nil {
			return err
		}
		o.found.try(fleet, after, by) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
	}
	if err := o.flags.Print(o.Out, &o.found, o.show); err != nil {
		return err
	}
	if slices.ContainsFunc(o.found.Items, func(item Affected) bool { return item.Breaks }) {
		return fmt.Errorf("%s: %w, so it stays as it is", o.Lock, ErrBreaks)
	}
	return o.writeLock(after)
}

// writeLock writes the lock where it would be another one.
func (o *options) writeLock(after *index.Lock) error {
	_, err := o.CheckLock(after)
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
	content, err := after.Bytes()
	if err != nil {
		return err
	}
	if err := index.Replace(o.Lock, content); err != nil {
		return err
	}
	fmt.Fprintf(o.ErrOut, "%s was written.\n", o.Lock)
	return nil
}

// show prints a row for each move, and for each edge that would break.
func (o *options) show() error {
	var moves, breaks [][]string
	for i := range o.found.Moves {
		one := &o.found.Moves[i]
		moves = append(moves, []string{
			text.Name(one.ClusterKind), text.Name(one.AddOn), text.Excerpt(one.OldVersion), text.Excerpt(one.NewVersion),
			text.OneLine(strings.Join(one.Because, "; ")),
		})
	}
	for i := range o.found.Items {
		if one := &o.found.Items[i]; one.Breaks {
			breaks = append(breaks, []string{
				text.Name(one.ClusterKind), text.Name(one.AddOn), text.Name(one.Edge), string(one.Before), string(one.After), o.named(one.Clusters),
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
		parts = append(parts, "tried on "+text.Count(o.found.Clusters, "managed cluster"))
	}
	fmt.Fprintln(o.ErrOut, strings.Join(append(parts, resolve.LeftOut(o.found.NotReached, o.found.NotLocked)...), ", ")+".")
	return nil
}

// named are how many clusters there are, and the names of the first, or of all.
func (o *options) named(clusters []string) string {
	first := clusters
	if !o.flags.Is(output.Wide) {
		first = clusters[:min(len(clusters), maxClusters)]
	}
	names := fmt.Sprintf("%d: %s", len(clusters), text.OneLine(strings.Join(first, ", ")))
	if len(first) < len(clusters) {
		names += ", …"
	}
	return names
}
