package resolve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/airgap"
	"open-cluster-management.io/interlock/pkg/offline/airgap/registry"
	"open-cluster-management.io/interlock/pkg/offline/airgap/signature"
	"open-cluster-management.io/interlock/pkg/offline/index"
)

// Packages has the options for reading packages.
type Packages struct {
	// Key is the path of the public key that packages have to be signed with. If it is empty, packages need no signature.
	Key string
	// Insecure is whether a registry on loopback may have no TLS.
	Insecure bool
}

// AddTo adds the flags of the options to a verb.
func (p *Packages) AddTo(command *cobra.Command) {
	cmdline.NotEmptyVar(command, &p.Key, "key", "", "", "Refuse a package that is not signed with the public key in this `FILE`.")
	command.Flags().BoolVar(&p.Insecure, "insecure", false, "A registry on loopback may have no TLS.")
}

// Open reads a package from a file or from a registry. The caller closes it.
func (p *Packages) Open(ctx context.Context, location string) (*airgap.Package, error) {
	source := airgap.Source{Client: registry.Client{Insecure: p.Insecure}}
	if p.Key != "" {
		key, err := signature.PublicKey(p.Key)
		if err != nil {
			return nil, cmdline.UsageError(fmt.Errorf("--key: %w", err))
		}
		source.Key = key
	}
	pkg, err := source.Open(ctx, location)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, registry.ErrNoTag) {
		err = cmdline.UsageError(err)
	}
	return pkg, err
}

// releases are the releases in an index.
type releases struct {
	entries []index.Entry
	// locked has the lock for which the releases were packed. Resolving had more releases to choose from there. It is nil if the
	// releases were not packed.
	locked *airgap.Locked
}

// read reads the releases of a folder, or of a package.
func (p *Packages) read(ctx context.Context, location string) (*releases, error) {
	info, err := os.Stat(location)
	if isPackage := strings.HasPrefix(location, airgap.Scheme) || strings.HasSuffix(location, ".tar"); !isPackage && err != nil || err == nil && info.IsDir() {
		return p.readFolder(location)
	}
	packed, err := p.Open(ctx, location)
	if err != nil {
		return nil, err
	}
	return &releases{packed.Entries, &packed.Locked}, packed.Close()
}

func (p *Packages) readFolder(folder string) (*releases, error) {
	if p.Key != "" {
		return nil, cmdline.UsageError(fmt.Errorf("--key: %s is a folder, and only a package has a signature", folder))
	}
	entries, err := index.Read(folder)
	if _, missing := os.Stat(folder); err != nil && missing != nil {
		err = cmdline.UsageError(err)
	}
	if err != nil {
		return nil, err
	}
	locked, err := airgap.LockedIn(folder)
	return &releases{entries, locked}, err
}
