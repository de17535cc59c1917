// Package build is the verb of kubectl addon that writes the manifests of locked add-ons, in the order in which they are
// applied.
package build

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/resolve"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/index"
)

type options struct {
	genericiooptions.IOStreams
	resolve.Files
	layout
	// folder is the folder to write.
	folder string
	// kind is the only kind of clusters to write manifests for. If it is empty, all count.
	kind   string
	locked bool
}

// NewCommand returns the verb.
func NewCommand(_ *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams}
	command := &cobra.Command{
		Use:   "build [FILE]",
		Short: "Write the manifests of locked add-ons, in order",
		Long: `Write the manifests of the add-ons in addons.lock to a folder, in layers: 00 has what needs no
other add-on, 01 what needs only those, and so on. It refuses releases whose digests are not
those of the lock. FILE has the wishes, addons.yaml by default.

Interlock needs no order. With it, no add-on waits for another one, and a pipeline fails at
the first layer that does.

It writes for
- kubectl: folders for kubectl apply -f,
- kustomize: these, and a kustomization.yaml,
- argocd: as for kustomize, with a sync wave on each object,
- flux: a Kustomization of Flux for each layer, which depends on the one before.

The folder must be a new or empty one, or one that build has written. It is replaced as a
whole, apart from files of others outside of the layers, such as a README. If the lock does
not fit the wishes, it prints a warning. With --locked, it first resolves the wishes again,
and fails where the lock would change. A hub has each object once, so kinds of clusters with
different versions of an add-on need --cluster-kind.`,
		Example: `  # Folders for kubectl
  kubectl addon build addons.yaml --index index --to manifests --locked

  # For Argo CD
  kubectl addon build addons.yaml --index index --to manifests --format argocd`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if !slices.Contains(formats, o.format) {
				return cmdline.UsageError(fmt.Errorf("--format=%q: must be one of %v", o.format, formats))
			}
			o.SetPaths(args)
			return o.run(command.Context())
		},
	}
	o.AddTo(command)
	cmdline.NotEmptyVar(command, &o.folder, "to", "", "manifests", "The folder to write.")
	command.Flags().StringVar(&o.format, "format", formatKubectl, "What applies the manifests: kubectl, kustomize, argocd or flux.")
	_ = command.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	command.Flags().StringVar(&o.kind, "cluster-kind", "", "Only the add-ons of this kind of clusters.")
	command.Flags().BoolVar(&o.locked, "locked", false, "Fail when resolving again would change the lock.")
	command.Flags().StringVar(&o.fluxSource, "flux-source", "flux-system", "The GitRepository of Flux that has the folder.")
	command.Flags().StringVar(&o.fluxPath, "flux-path", "", "The path of the folder in that repository; the default is that of --to.")
	return command
}

func (o *options) run(ctx context.Context) error {
	lock, entries, err := o.read(ctx)
	if err != nil {
		return err
	}
	whole := lock
	if lock, err = lock.Only(o.kind); err != nil {
		return cmdline.UsageError(fmt.Errorf("--cluster-kind: %w", err))
	}
	plan, err := index.Plan(lock, entries)
	if err != nil {
		return err
	}
	if err := o.WarnOfMisfits(whole, entries, o.ErrOut); err != nil {
		return err
	}
	if o.fluxPath == "" {
		o.fluxPath = "./" + filepath.ToSlash(o.folder)
	}
	files, err := o.files(plan)
	if err != nil {
		return err
	}
	if files[markerFile], err = markerContent(o.format, lock); err != nil {
		return err
	}
	if err := replace(o.folder, files); err != nil {
		return err
	}
	for _, file := range filesOf(plan) {
		fmt.Fprintf(o.Out, "%s\n", filepath.Join(o.folder, file))
	}
	return nil
}

// read reads the lock and the releases. With --locked, it resolves the wishes again, and compares the result with the lock.
func (o *options) read(ctx context.Context) (*index.Lock, []index.Entry, error) {
	lock, err := o.ReadLock()
	if err != nil {
		return nil, nil, err
	}
	if !o.locked {
		entries, err := o.Entries(ctx)
		return lock, entries, err
	}
	newLock, entries, err := o.Resolve(ctx)
	if err != nil {
		return nil, nil, err
	}
	if _, err := o.CheckLock(newLock); err != nil {
		return nil, nil, err
	}
	return lock, entries, nil
}
