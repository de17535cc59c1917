package resolve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"open-cluster-management.io/interlock/pkg/airgap"
	"open-cluster-management.io/interlock/pkg/airgap/registry"
	"open-cluster-management.io/interlock/pkg/airgap/signature"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/index"
)

// Packages are how packages are read.
type Packages struct {
	// Key is the path of the public key that packages have to be signed with.
	Key string
	// Insecure: a registry on loopback may have no TLS.
	Insecure bool
}

// AddTo adds their flags to a verb.
func (p *Packages) AddTo(command *cobra.Command) {
	cmdline.NotEmptyVar(command, &p.Key, "key", "", "", "Refuse a package that is not signed with the public key in this `FILE`.")
	command.Flags().BoolVar(&p.Insecure, "insecure", false, "A registry on loopback may have no TLS.")
}

// Open reads a package from a file or from a registry. It has to be closed.
func (p *Packages) Open(ctx context.Context, from string) (*airgap.Package, error) {
	source := airgap.Source{Client: registry.Client{Insecure: p.Insecure}}
	if p.Key != "" {
		key, err := signature.PublicKey(p.Key)
		if err != nil {
			return nil, cmdline.UsageError(fmt.Errorf("--key: %w", err))
		}
		source.Key = key
	}
	opened, err := source.Open(ctx, from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, registry.ErrNoTag) {
		err = cmdline.UsageError(err)
	}
	return opened, err
}

// releases are those of an index.
type releases struct {
	entries []index.Entry
	// locked is what they were packed for: the lock was resolved where there were more of them. nil: they were not packed.
	locked *airgap.Locked
}

// read reads the releases of a folder, or of a package.
func (p *Packages) read(ctx context.Context, from string) (found releases, err error) {
	if info, err := os.Stat(from); !strings.HasPrefix(from, airgap.Scheme) && (err != nil || info.IsDir()) {
		if p.Key != "" {
			return found, cmdline.UsageError(fmt.Errorf("--key: %s is a folder, and only a package has a signature", from))
		}
		found.entries, err = index.Read(from)
		if _, missing := os.Stat(from); err != nil && missing != nil {
			err = cmdline.UsageError(err)
		}
		if err != nil {
			return found, err
		}
		found.locked, err = airgap.LockedIn(from)
		return found, err
	}
	packed, err := p.Open(ctx, from)
	if err != nil {
		return found, err
	}
	return releases{packed.Entries, &packed.Locked}, packed.Close()
}
