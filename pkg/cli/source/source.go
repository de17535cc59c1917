// Package source reads a fleet for the verbs of the plugin from a hub, or from a file that
// `kubectl addon snapshot` wrote.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// Source is a hub or a file.
type Source struct {
	Config *genericclioptions.ConfigFlags
	// In is standard input. The file - is read from it.
	In io.Reader
	// ErrOut receives warnings about objects that could not be read and are left out. If it is nil, there are no warnings.
	ErrOut io.Writer
	file   string

	allNamespaces bool
	selector      selectorFlag
}

// AddFlags adds the flag that names a file.
func (s *Source) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.file, "from", "", "Read this `FILE`, which kubectl addon snapshot has written, instead of a hub; - for standard input.")
}

// IsFile reports whether a file is named.
func (s *Source) IsFile() bool { return s.file != "" }

// IsStdin reports whether the file is standard input.
func (s *Source) IsStdin() bool { return s.file == "-" }

// Name returns the address of the hub, or the name of the file.
func (s *Source) Name() string {
	switch {
	case s.IsStdin():
		return "standard input"
	case s.IsFile():
		return filepath.Base(s.file)
	}
	config, err := s.Config.ToRESTConfig()
	if err != nil {
		return "" // the hub cannot be read either
	}
	return config.Host
}

// Snapshot reads the whole fleet, or a single managed cluster. Its error has advice, and makes
// the plugin exit with cmdline.ExitHub if the hub did not respond. The additions are changes to
// try, whose inputs are read, too.
func (s *Source) Snapshot(ctx context.Context, cluster string, additions ...snapshot.Additions) (*snapshot.Snapshot, error) {
	taken, err := s.take(ctx, cluster, additions)
	if err != nil {
		return nil, err
	}
	s.printNotes(taken)
	// Without an error, a mistyped name would look like a healthy cluster.
	if cluster != "" && !slices.Contains(taken.Names(), cluster) {
		return nil, NoCluster(cluster)
	}
	selected, err := s.selected(taken)
	if err == nil {
		s.showEvaluations(selected)
	}
	return selected, err
}

func (s *Source) take(ctx context.Context, cluster string, additions []snapshot.Additions) (*snapshot.Snapshot, error) {
	if s.file != "" {
		return s.read()
	}
	hub, host, err := s.Connect()
	if err != nil {
		return nil, err
	}
	taken, err := snapshot.Take(ctx, hub, cluster, additions...)
	return taken, HubError(err, host)
}

// read reads the file.
func (s *Source) read() (*snapshot.Snapshot, error) {
	s.messages().ShowProgress("Reading " + s.file)
	taken, err := snapshot.Read(s.file, s.In)
	if err != nil {
		return nil, cmdline.UsageError(fmt.Errorf("--from: %w", err))
	}
	return taken, nil
}

// NoCluster returns the error for a managed cluster that does not exist.
func NoCluster(name string) error {
	return fmt.Errorf("no managed cluster %q on this hub: kubectl get managedclusters lists them", name)
}

// HubError adds advice to an error of the hub at that address, and makes the plugin exit
// with cmdline.ExitHub. It returns nil without an error.
func HubError(err error, host string) error {
	if err == nil {
		return nil
	}
	return cmdline.HubError(fmt.Errorf("%w (%s)", err, advice(err, host)))
}

// Registrations reads only the registered add-ons.
func (s *Source) Registrations(ctx context.Context) ([]addonv1alpha1.ClusterManagementAddOn, error) {
	if s.file != "" {
		snapshot, err := s.read()
		if err != nil {
			return nil, err
		}
		return snapshot.Registrations, nil
	}
	hub, host, err := s.Connect()
	if err != nil {
		return nil, err
	}
	registrations, err := fleet.Objects{Reader: hub, Page: page}.AddOns(ctx)
	return registrations, HubError(err, host)
}

// page is the page size of the list of registrations.
const page = 100

// AddOn returns the add-on that is the argument of a verb. It is empty without an argument.
// An empty argument, such as from an unset variable, is an error and does not mean all add-ons.
func AddOn(args []string) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	if args[0] == "" {
		return "", errors.New("ADDON is empty: name an add-on, or leave it out for all")
	}
	return args[0], nil
}

// CheckInstalled returns an error unless an add-on is installed on the managed cluster. If
// the cluster is empty, any managed cluster suffices.
func CheckInstalled(taken *snapshot.Snapshot, addOn, cluster string) error {
	if taken.IsInstalled(addOn, cluster) {
		return nil
	}
	place := "on any managed cluster"
	if cluster != "" {
		place = "on " + cluster
	}
	return fmt.Errorf("add-on %q is not installed %s: kubectl addon status -A lists what is", addOn, place)
}

// CheckNeeded is CheckInstalled, but it also accepts an add-on that has dependents.
func CheckNeeded(taken *snapshot.Snapshot, addOn, cluster string) error {
	if len(taken.Declared.Dependents(addOn)) > 0 {
		return nil
	}
	return CheckInstalled(taken, addOn, cluster)
}

// askForRight is the advice about a denied request. The error names the verb and the resource.
const askForRight = "ask for that right; docs/kubectl-addon.md lists the rights that the plugin needs"

// advice returns the advice about an error of the hub.
func advice(err error, host string) string {
	switch {
	case apierrors.IsUnauthorized(err):
		return "log in again, or name another user with --user or --context"
	case apierrors.IsForbidden(err):
		return askForRight
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return fmt.Sprintf("is %s an Open Cluster Management hub? Name another with --context", host)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	default:
		return fmt.Sprintf("does %s respond? kubectl get --raw /readyz", host)
	}
}
