// Package pack is the verb package of kubectl addon: it writes the add-ons of a lock to a file.
package pack

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/resolve"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/airgap"
	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
	"open-cluster-management.io/interlock/pkg/offline/airgap/registry"
	"open-cluster-management.io/interlock/pkg/offline/airgap/signature"
	"open-cluster-management.io/interlock/pkg/text"
)

// passphraseVariable is the environment variable with the passphrase of a private key.
const passphraseVariable = "COSIGN_PASSWORD"

type options struct {
	genericiooptions.IOStreams
	resolve.Files
	// path is the file to write.
	path        string
	signKeyPath string
	images      bool
	signKey     crypto.Signer
}

// NewCommand returns the verb.
func NewCommand(_ *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams}
	command := &cobra.Command{
		Use:   "package [FILE]",
		Short: "Pack locked add-ons into one file, to carry it elsewhere",
		Long: `Pack the wishes, addons.lock, the releases that it names, and a list of the images in their
manifests into one file, an archive of an OCI artifact. FILE has the wishes, addons.yaml by
default. The same input gives the same bytes. It prints the digest of the artifact.

It first resolves the wishes again, and fails where the lock would change. It refuses the
unreleased add-ons of a --workspace.

With --images, it also packs the images, for all platforms that they have. It reads them from
their registries, with the credentials of Docker's configuration. An image without a digest in
the manifests gets the one that its registry has now: the list has it.

With --sign-key, it signs the artifact in the formats of cosign 2 and 3. The key is a private
key in PEM, of ECDSA with the curve P-256, or of Ed25519: as PKCS#8 without a passphrase, or as
cosign generate-key-pair makes it. Its passphrase is read from the environment variable
COSIGN_PASSWORD, or from the terminal.`,
		Example: `  # What the lock names
  kubectl addon package addons.yaml --index index --to addons.tar

  # With the images, signed
  openssl genpkey -algorithm ed25519 -out key.pem
  openssl pkey -in key.pem -pubout -out key.pub
  kubectl addon package addons.yaml --index index --to addons.tar --images --sign-key key.pem`,
		Args: cobra.MaximumNArgs(1),
		RunE: cmdline.RunE(o.complete, o.run),
	}
	o.AddTo(command)
	cmdline.NotEmptyVar(command, &o.path, "to", "o", "addons.tar", "The `FILE` to write.")
	command.Flags().BoolVar(&o.images, "images", false, "Pack the images too.")
	cmdline.NotEmptyVar(command, &o.signKeyPath, "sign-key", "", "", "Sign it with the private key in this `FILE`.")
	return command
}

func (o *options) complete(args []string) error {
	if len(o.Workspace) > 0 {
		return errors.New("--workspace: what is not released cannot be packed: add it to the index with kubectl addon index build, " +
			"and resolve without --workspace")
	}
	if o.signKeyPath != "" {
		var err error
		if o.signKey, err = signature.PrivateKey(o.signKeyPath, o.passphrase); err != nil {
			return fmt.Errorf("--sign-key: %w", err)
		}
	}
	o.SetPaths(args)
	return cmdline.Overwrites("to", o.path, o.Wishes, o.Lock, o.Index, o.Key, o.signKeyPath)
}

func (o *options) run(ctx context.Context) error {
	content, err := o.content(ctx)
	if err != nil {
		return err
	}
	blobs := layout.Blobs{}
	var images []v1.Descriptor
	if o.images {
		if images, err = content.Fetch(ctx, registry.Client{Insecure: o.Insecure}, blobs); err != nil {
			return err
		}
	}
	packed, err := airgap.Pack(content, blobs, o.signKey)
	if err != nil {
		return err
	}
	packed.PackedImages = images
	if err := packed.WriteFile(o.path); err != nil {
		return err
	}
	o.report(packed)
	return nil
}

// passphrase returns the passphrase of the key: from the variable that cosign reads, or from the terminal.
func (o *options) passphrase() ([]byte, error) {
	if secret, ok := os.LookupEnv(passphraseVariable); ok {
		return []byte(secret), nil
	}
	file, ok := o.In.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil, fmt.Errorf("it has a passphrase: set the environment variable %s to it", passphraseVariable)
	}
	fmt.Fprintf(o.ErrOut, "Passphrase of %s: ", o.signKeyPath)
	secret, err := term.ReadPassword(int(file.Fd()))
	fmt.Fprintln(o.ErrOut)
	return secret, err
}

// content reads the content of the package.
func (o *options) content(ctx context.Context) (*airgap.Content, error) {
	lock, entries, err := o.Resolve(ctx)
	if err != nil {
		return nil, err
	}
	file, err := o.CheckLock(lock)
	if err != nil {
		return nil, err
	}
	return airgap.New(o.Content, file, entries)
}

func (o *options) report(packed *airgap.Package) {
	fmt.Fprintln(o.Out, packed.Artifact.Digest)
	for i := range packed.Images {
		if image := &packed.Images[i]; image.Variable() {
			fmt.Fprintf(o.ErrOut, "The image %q has a variable, so it is not packed.\n", text.Excerpt(image.Image))
		}
	}
	signed := "not signed"
	if packed.Signatures.Exist() {
		signed = "signed"
	}
	fmt.Fprintf(o.ErrOut, "%s has %s and names %s, of which it has %d. It is %s.\n", o.path,
		text.Count(len(packed.Entries), "release"), text.Count(len(packed.Images), "image"), len(packed.PackedImages), signed)
}
