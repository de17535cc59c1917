// Package verify is the verb of kubectl addon that compares a lock with files, and with managed clusters.
package verify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/build"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/resolve"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// ErrDiffers is returned when anything differs from the lock.
var ErrDiffers = errors.New("what is there differs from the lock")

// Verification is the result of comparing a lock with files and managed clusters.
type Verification struct {
	metav1.TypeMeta `json:",inline"`
	// Clusters is the number of managed clusters that were compared.
	Clusters int `json:"clusters"`
	// NotReached is the number of managed clusters that cannot be reached.
	NotReached int `json:"notReached,omitempty"`
	// NotLocked is the number of managed clusters whose kind is not in the lock.
	NotLocked int `json:"notLocked,omitempty"`
	// Items are the differences. Files come first, then managed clusters and their add-ons by name.
	Items []Difference `json:"items"`
}

// Difference is a difference between the lock and a file or a managed cluster.
type Difference struct {
	Cluster string `json:"cluster,omitempty"`
	Kind    string `json:"clusterKind,omitempty"`
	AddOn   string `json:"addOn,omitempty"`
	// Locked and Actual are versions of the add-on, or of Kubernetes if there is no AddOn.
	Locked string `json:"locked,omitempty"`
	Actual string `json:"found,omitempty"`
	// Message describes the difference, for people.
	Message string `json:"message"`
}

type options struct {
	genericiooptions.IOStreams
	resolve.Files
	source *source.Source
	flags  *output.Flags
	live   bool
	// folder is the folder of manifests to compare. It may be empty.
	folder string
	result Verification
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags()}
	command := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Compare a lock with files, and with what runs",
		Long: `Compare addons.lock with the wishes and the index: has the index each locked release, with the
same digest, and would resolving again give the same lock? FILE has the wishes, addons.yaml
by default.

With --to, it also compares a folder that kubectl addon build has written with the lock: is
each file there, and unchanged?

With --live or --from, it also compares the lock with each managed cluster: is each locked
add-on installed in its version, and available? Has the cluster the Kubernetes version of its
kind? A newer patch version makes no difference. A cluster is of the kind whose labels and
claims it has; of several, of the kind with most of them. Clusters that cannot be reached, or
are of no kind in the lock, are counted and not compared.

It exits with 1 when anything differs.`,
		Example: `  # Files only
  kubectl addon verify addons.yaml --index index

  # What kubectl addon build has written too
  kubectl addon verify addons.yaml --index index --to manifests

  # The fleet too
  kubectl addon verify addons.yaml --index index --live`,
		Args: cobra.MaximumNArgs(1),
		RunE: cmdline.RunE(func(args []string) error {
			o.SetPaths(args)
			return o.flags.Validate()
		}, o.run),
	}
	o.AddTo(command)
	cmdline.NotEmptyVar(command, &o.folder, "to", "", "", "Compare with the `FOLDER` that kubectl addon build has written.")
	command.Flags().BoolVar(&o.live, "live", false, "Compare with the managed clusters of the hub.")
	o.source.AddClusterFlags(command)
	o.flags.AddTo(command)
	return command
}

func (o *options) run(ctx context.Context) error {
	lock, err := o.ReadLock()
	if err != nil {
		return err
	}
	o.result = Verification{TypeMeta: metav1.TypeMeta{APIVersion: report.APIVersion, Kind: "LockVerification"}, Items: []Difference{}}
	if err := o.compareFiles(ctx, lock); err != nil {
		return err
	}
	if o.live || o.source.IsFile() {
		fleet, err := o.source.Snapshot(ctx, o.source.Cluster())
		if err != nil {
			return err
		}
		compareFleet(&o.result, lock, fleet) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
	}
	if err := o.flags.Print(o.Out, &o.result, o.show); err != nil {
		return err
	}
	if len(o.result.Items) > 0 {
		return fmt.Errorf("%s: %w", o.Lock, ErrDiffers)
	}
	return nil
}

// compareFiles compares the lock with the index, the folder of manifests, and the lock that resolving the wishes again gives.
func (o *options) compareFiles(ctx context.Context, lock *index.Lock) error {
	entries, err := o.Entries(ctx)
	if err != nil {
		return err
	}
	for _, mismatch := range index.Check(lock, entries) {
		o.add(mismatch, mismatch.Message)
	}
	if len(o.result.Items) > 0 {
		return nil // resolving again would only repeat it
	}
	if o.folder != "" {
		differences, err := build.Compare(o.folder, lock, entries)
		if err != nil {
			return err
		}
		for _, message := range differences {
			o.result.Items = append(o.result.Items, Difference{Message: message})
		}
	}
	newLock, _, resolveErr := o.Resolve(ctx)
	if resolveErr != nil {
		o.result.Items = append(o.result.Items, Difference{Message: "the wishes: " + resolveErr.Error()})
		return nil //nolint:nilerr // verify reports it as a difference
	}
	_, err = o.CheckLock(newLock)
	var lockErr *resolve.LockError
	if !errors.As(err, &lockErr) {
		return err
	}
	for _, difference := range lockErr.Differences {
		message := "resolving again gives another lock: " + difference.Message
		if difference.ClusterKind != "" {
			message = fmt.Sprintf("clusters of kind %s: %s", text.Name(difference.ClusterKind), message)
		}
		o.add(difference, message)
	}
	return nil
}

// add adds a difference between the lock and files.
func (o *options) add(difference index.Difference, message string) {
	o.result.Items = append(o.result.Items, Difference{
		Kind: difference.ClusterKind, AddOn: difference.AddOn, Locked: difference.Locked, Actual: difference.Resolved, Message: message,
	})
}

// show prints a row for each difference.
func (o *options) show() error {
	var rows [][]string
	for i := range o.result.Items {
		difference := &o.result.Items[i]
		cell := difference.Cluster
		if cell == "" {
			cell = "(files)"
		}
		rows = append(rows, []string{
			text.Name(cell), text.Name(difference.AddOn),
			text.Excerpt(difference.Locked), text.Excerpt(difference.Actual), text.OneLine(difference.Message),
		})
	}
	if len(rows) > 0 {
		if err := o.flags.Table(o.Out, []string{"WHERE", "ADD-ON", "LOCKED", "FOUND", "DIFFERENCE"}).Print(rows); err != nil {
			return err
		}
	}
	parts := []string{text.Count(len(o.result.Items), "difference")}
	if o.live || o.source.IsFile() {
		parts = append(parts, text.Count(o.result.Clusters, "managed cluster")+" compared")
	}
	fmt.Fprintln(o.ErrOut, strings.Join(append(parts, resolve.DescribeUncompared(o.result.NotReached, o.result.NotLocked)...), ", ")+".")
	return nil
}
