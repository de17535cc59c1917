// Package resolve is the verb of kubectl addon that chooses versions of add-ons, without a hub.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/offline/objectfiles"
	"open-cluster-management.io/interlock/pkg/text"
)

type options struct {
	genericiooptions.IOStreams
	flags *output.Flags
	Files
	locked bool
}

// Files are the input files of resolving.
type Files struct {
	// Wishes, Index and Lock are paths.
	Wishes, Index, Lock string
	// Workspace are folders with add-ons that replace the add-ons of the same name in the index.
	Workspace []string
	Packages
	// named is true if the user named the file of the wishes.
	named bool
	// Content is the content of the file with the wishes. Resolve sets it.
	Content []byte
	// releases caches the result of Entries.
	releases *releases
}

// AddTo adds the flags of the files to a verb.
func (f *Files) AddTo(command *cobra.Command) {
	cmdline.NotEmptyVar(command, &f.Index, "index", "", "index",
		"The index: its folder, the `FILE` of a package, or oci://REFERENCE of a package in a registry.")
	command.Flags().StringVar(&f.Lock, "lock", "", "The `FILE` of the lock. By default, addons.lock in the folder of the wishes.")
	command.Flags().StringArrayVar(&f.Workspace, "workspace", nil,
		"A `DIR` with manifests. Its add-ons are taken instead of all of their versions in the index. It may be repeated.")
	f.Packages.AddTo(command)
}

// SetPaths sets the paths of the wishes and of the lock from the arguments of a verb.
func (f *Files) SetPaths(args []string) {
	if f.Wishes = "addons.yaml"; len(args) > 0 {
		f.Wishes, f.named = args[0], true
	}
	if f.Lock == "" {
		f.Lock = filepath.Join(filepath.Dir(f.Wishes), "addons.lock")
	}
}

// NewCommand returns the verb.
func NewCommand(_ *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, flags: output.NewFlags()}
	command := &cobra.Command{
		Use:   "resolve [FILE]",
		Short: "Choose versions of add-ons, without a hub",
		Long: `Choose the highest versions of add-ons that satisfy all wishes of a file, addons.yaml by
default, and all that the chosen versions declare. It writes them to addons.lock, with
digests and the reasons. It needs no hub.

The releases are those of an index, see kubectl addon index. Required dependencies are
chosen too. Optional and IfInstalled ones only limit versions, where they are chosen. The
first wish by name gets the highest version that is possible, then the second one, and so on.
Prereleases are chosen only where a wish asks for them, or a dependency on exactly one of them.

The file names kinds of managed clusters, by labels, claims, the Kubernetes version and the
APIs that they serve. Each kind has versions of its own. What evaluation needs besides, and
cannot be known here, is listed as an assumption.

It exits with 1 when no versions satisfy all wishes, and names the wishes that exclude each
other. With --locked, it writes nothing, and exits with 1 when the lock would change.`,
		Example: `  # Write addons.lock
  kubectl addon resolve addons.yaml --index index

  # In a pipeline
  kubectl addon resolve addons.yaml --index index --locked

  # With a version of an add-on that is not released yet
  kubectl addon resolve addons.yaml --index index --workspace ../cluster-gateway/deploy`,
		Args: cobra.MaximumNArgs(1),
		RunE: cmdline.RunE(func(args []string) error {
			o.SetPaths(args)
			return o.flags.Validate()
		}, o.run),
	}
	o.AddTo(command)
	command.Flags().BoolVar(&o.locked, "locked", false, "Write nothing, and fail when the lock would change.")
	o.flags.AddTo(command)
	return command
}

// Resolve reads the files and chooses versions. It returns the releases too. If these were packed for the same wishes, it returns the
// lock of the package, because it was resolved from more releases.
func (f *Files) Resolve(ctx context.Context) (*index.Lock, []index.Entry, error) {
	wishes, content, err := index.ReadWishes(f.Wishes)
	if err != nil {
		return nil, nil, cmdline.UsageError(err)
	}
	f.Content = content
	entries, err := f.Entries(ctx)
	if err != nil {
		return nil, nil, err
	}
	if packed := f.releases.locked; packed != nil && packed.ResolvedFrom(f.Content) && len(f.Workspace) == 0 {
		lock, err := index.DecodeLock(packed.Lock)
		return lock, entries, err
	}
	lock, err := index.Resolve(entries, wishes)
	return lock, entries, err
}

// Entries reads the releases, once.
func (f *Files) Entries(ctx context.Context) ([]index.Entry, error) {
	if f.releases != nil {
		return f.releases.entries, nil
	}
	releases, err := f.read(ctx, f.Index)
	if err != nil {
		return nil, err
	}
	if releases.entries, err = f.withWorkspaces(releases.entries); err != nil {
		return nil, err
	}
	f.releases = releases
	return releases.entries, nil
}

// withWorkspaces returns the releases of an index, but for the add-ons of the workspaces only theirs.
func (f *Files) withWorkspaces(entries []index.Entry) ([]index.Entry, error) {
	folderOf := map[string]string{}
	for _, folder := range f.Workspace {
		objects, _, err := objectfiles.Read([]string{folder}, strings.NewReader(""), "")
		if err != nil {
			return nil, cmdline.UsageError(err)
		}
		objects, _ = index.WithoutHooks(objects) // resolving chooses versions, and installs nothing
		relative := f.relative(folder)
		workspaceEntries, err := index.Build(objects, "workspace "+relative, nil)
		if err != nil {
			return nil, err
		}
		for i := range workspaceEntries {
			name := workspaceEntries[i].Name
			if other, exists := folderOf[name]; exists && other != relative {
				return nil, cmdline.UsageError(fmt.Errorf("--workspace: %s and %s both have the add-on %s: name one of them",
					other, relative, text.Name(name)))
			}
			folderOf[name] = relative
		}
		entries = index.Workspace(entries, workspaceEntries)
	}
	return entries, nil
}

// DescribeUncompared describes the managed clusters that a lock was not compared with.
func DescribeUncompared(notReached, notLocked int) []string {
	var parts []string
	if notReached > 0 {
		parts = append(parts, fmt.Sprintf("%d that cannot be reached", notReached))
	}
	if notLocked > 0 {
		parts = append(parts, fmt.Sprintf("%d of no kind in the lock", notLocked))
	}
	return parts
}

// relative returns the path of a folder from the folder of the lock, with slashes. So the lock does not depend on the spelling of the
// path, or on the current folder.
func (f *Files) relative(folder string) string {
	clean := filepath.ToSlash(filepath.Clean(folder))
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return clean
	}
	root, err := filepath.Abs(filepath.Dir(f.Lock))
	if err != nil {
		return clean
	}
	path, err := filepath.Rel(root, absolute)
	if err != nil {
		return clean
	}
	return filepath.ToSlash(path)
}

func (o *options) run(ctx context.Context) error {
	if err := cmdline.Overwrites("lock", o.Lock, o.Wishes, o.Index, o.Key); err != nil {
		return err
	}
	lock, _, err := o.Resolve(ctx)
	if err != nil {
		return err
	}
	if err := o.flags.Print(o.Out, lock, func() error { return o.show(lock) }); err != nil {
		return err
	}
	_, err = o.CheckLock(lock)
	switch {
	case err == nil:
		fmt.Fprintf(o.ErrOut, "%s is current.\n", o.Lock)
		return nil
	case o.locked || !errors.Is(err, ErrLock) && !errors.Is(err, ErrNoLock):
		return err
	}
	return o.WriteLock(lock, o.ErrOut)
}

// show prints a row for each choice.
func (o *options) show(lock *index.Lock) error {
	var rows [][]string
	for _, kind := range lock.ClusterKinds {
		for i := range kind.AddOns {
			addOn := &kind.AddOns[i]
			rows = append(rows, []string{text.Name(kind.Name), addOn.Name, addOn.Version, strings.Join(addOn.Because, "; ")})
		}
	}
	if err := o.flags.Table(o.Out, []string{"CLUSTERS", "ADD-ON", "VERSION", "BECAUSE"}).Print(rows); err != nil {
		return err
	}
	for _, kind := range lock.ClusterKinds {
		for _, assumption := range kind.Assumptions {
			fmt.Fprintf(o.ErrOut, "Assumed of clusters of kind %s: %s.\n", text.Name(kind.Name), assumption)
		}
	}
	return nil
}
