// Package push is the verb of kubectl addon that writes a package to a registry.
package push

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/airgap"
	"open-cluster-management.io/interlock/pkg/text"
)

type options struct {
	genericiooptions.IOStreams
	source         airgap.Source
	imagesLocation string
}

// NewCommand returns the verb.
func NewCommand(_ *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams}
	command := &cobra.Command{
		Use:   "push FILE REGISTRY/REPOSITORY:TAG",
		Short: "Push a package to a registry",
		Long: `Push a package that kubectl addon package has written, with its signatures, and with the images
that it has. It reads the credentials of Docker's configuration, and prints the digest by
which the package can be pulled.

Images are pushed to the same registry, with the path that they have in their own: quay.io/a/b:1
becomes REGISTRY/a/b:1. That is where a mirror of quay.io has it. With --images-to, they are
pushed below another registry or repository.`,
		Example: `  kubectl addon push addons.tar registry.example.com/addons:1.0.0

  # Images below a repository of their own
  kubectl addon push addons.tar registry.example.com/addons:1.0.0 --images-to registry.example.com/mirror`,
		Args: cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			reference, err := o.source.Reference(strings.TrimPrefix(args[1], airgap.Scheme))
			if _, isTag := reference.(name.Tag); err == nil && !isTag {
				err = errors.New("name a tag: the digest is that of the package")
			}
			if err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(command.Context(), args[0], reference)
		},
	}
	command.Flags().BoolVar(&o.source.Insecure, "insecure", false, "The registry is on loopback, and may have no TLS.")
	command.Flags().StringVar(&o.imagesLocation, "images-to", "", "Push images below this registry or repository.")
	return command
}

func (o *options) run(ctx context.Context, file string, target name.Reference) (err error) {
	packed, err := o.source.OpenArchive(file)
	if errors.Is(err, fs.ErrNotExist) {
		return cmdline.UsageError(err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, packed.Close()) }()
	images := o.imagesLocation
	if images == "" {
		images = target.Context().RegistryStr()
	}
	if err := packed.Push(ctx, o.source.Client, target, strings.TrimSuffix(images, "/")); err != nil {
		return err
	}
	fmt.Fprintln(o.Out, target.Context().Digest(packed.Artifact.Digest.String()))
	fmt.Fprintf(o.ErrOut, "%s was pushed with %s.\n", target, text.Count(len(packed.PackedImages), "image"))
	return nil
}
