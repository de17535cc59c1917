// Package pull is the verb of kubectl addon that reads a package from a registry and checks it.
package pull

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/resolve"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/airgap"
	"open-cluster-management.io/interlock/pkg/text"
)

type options struct {
	genericiooptions.IOStreams
	resolve.Packages
	target string
}

// NewCommand returns the verb.
func NewCommand(_ *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams}
	command := &cobra.Command{
		Use:   "pull REFERENCE|FILE",
		Short: "Pull a package from a registry, and check it",
		Long: `Pull a package of kubectl addon package from a registry, or read one from a file, and write it to
a new folder, or to a file whose name ends with .tar. The folder is an index with its releases.
It also has the wishes in addons.yaml, addons.lock, and the list of images in package.yaml.

It refuses a package with anything that differs from its digests, and one with files that its
lock does not name. With a digest in the reference, it is the package with this digest. With
--key, it is one that was signed with the key: kubectl addon package --sign-key or cosign does so.
It prints the digest.

It reads the credentials of Docker's configuration. Images stay in the registry.`,
		Example: `  # A folder
  kubectl addon pull registry.example.com/addons:1.0.0 --to addons --key key.pub

  # A file, by its digest
  kubectl addon pull registry.example.com/addons@sha256:0a1b… --to addons.tar`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error { return o.run(command.Context(), args[0]) },
	}
	o.AddTo(command)
	cmdline.NotEmptyVar(command, &o.target, "to", "o", "addons", "The new folder, or the file with a name ending in .tar, to write.")
	return command
}

func (o *options) run(ctx context.Context, reference string) (err error) {
	if err := cmdline.Overwrites("to", o.target, reference, o.Key); err != nil {
		return err
	}
	if err := checkReplaceable(ctx, o.target); err != nil {
		return err
	}
	pulled, err := o.Open(ctx, reference)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pulled.Close()) }()
	if strings.HasSuffix(o.target, ".tar") {
		err = pulled.WriteFile(o.target)
	} else {
		err = pulled.WriteFolder(o.target)
	}
	if errors.Is(err, airgap.ErrNotEmpty) {
		return cmdline.UsageError(err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(o.Out, pulled.Artifact.Digest)
	signed := "Its signature was not checked: name a key with --key"
	if o.Key != "" {
		signed = "It is signed with the key"
	}
	fmt.Fprintf(o.ErrOut, "%s has %s. %s.\n", o.target, text.Count(len(pulled.Entries), "release"), signed)
	return nil
}

// checkReplaceable returns an error if the target is a file that exists, and is no package.
func checkReplaceable(ctx context.Context, target string) error {
	if _, err := os.Stat(target); err != nil || !strings.HasSuffix(target, ".tar") {
		return nil //nolint:nilerr // what does not exist can be written, or the attempt says why not
	}
	former, err := new(resolve.Packages).Open(ctx, target)
	if err != nil {
		return cmdline.UsageError(fmt.Errorf("--to=%s: the file exists, and is no package of add-ons: name another one, or remove it", target))
	}
	return former.Close()
}
