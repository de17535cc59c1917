// Package impact is the verb of kubectl addon that finds what a change would break,
// before it is made.
package impact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/manifest"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// ErrBreaks is returned when a dependency would become unsatisfied.
var ErrBreaks = errors.New("dependencies would become unsatisfied")

type options struct {
	genericiooptions.IOStreams
	source   *source.Source
	flags    *output.Flags
	files    []string
	versions []string
	// placement is the path of a file, and placed what it has; nil: no Placement limits the change.
	placement string
	placed    *placed
	trial     report.Trial

	allNamespaces bool
}

// NewCommand returns the verb.
func NewCommand(from *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: from, flags: output.NewFlags(output.Wide)}
	command := &cobra.Command{
		Use:     "impact",
		Aliases: []string{"preflight"},
		Short:   "Find what a change would break, before it is made",
		Long: `Find which dependencies a change would break, and on which managed clusters. A change is an
installation, a removal, another version or another declaration of an add-on, a policy, or
another version of Kubernetes or OCM. Dependents of dependents count too. Several changes are tried
together. Nothing is written.

With --placement, the change is tried only on the managed clusters that a Placement in a
file selects. The Placement need not exist on the hub. Its ManagedClusterSets are read from
the hub: you need the right to list managedclustersets, and managedclustersetbindings in
the namespace of the Placement.

It exits with 1 when a dependency would become unsatisfied.`,
		Example: `  # Can managed-serviceaccount be removed?
  kubectl addon impact --remove managed-serviceaccount

  # From one cluster?
  kubectl addon impact --remove managed-serviceaccount -n cluster1

  # Where would application-portal fail, if this Placement installed it?
  kubectl addon impact --install application-portal --placement placement.yaml

  # What would fail on Kubernetes 1.36?
  kubectl addon impact --kubernetes 1.36.0

  # What would a new declaration break?
  kubectl addon impact -f clustermanagementaddon.yaml

  # What would an AddOnDependencyPolicy break, and what repair?
  kubectl addon impact -f policy.yaml`,
		Args: cobra.NoArgs,
		RunE: cmdline.RunE(o.complete, o.run),
	}
	flags := command.Flags()
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Try it on all managed clusters, which is the default without -n.")
	flags.StringSliceVar(&o.trial.Remove, "remove", nil, "The add-on is uninstalled. Can be repeated.")
	flags.StringSliceVar(&o.trial.Install, "install", nil, "The add-on is installed, and available, on managed clusters that do not have it yet. Can be repeated.")
	flags.StringVar(&o.placement, "placement", "", "Only on the managed clusters that the Placement in this `FILE` selects, - for standard input.")
	flags.StringSliceVar(&o.versions, "version", nil, "The add-on reports this version, as ADDON=VERSION. Can be repeated.")
	flags.StringVar(&o.trial.Kubernetes, "kubernetes", "", "Managed clusters run this version of Kubernetes.")
	flags.StringVar(&o.trial.OCM, "ocm", "", "The hub runs this version of Open Cluster Management.")
	flags.StringSliceVarP(&o.files, "filename", "f", nil, "File with ClusterManagementAddOns or AddOnDependencyPolicies as they would be, - for standard input. Can be repeated.")
	o.flags.AddTo(command)
	return command
}

func (o *options) complete([]string) error {
	for _, part := range []func() error{o.completeVersions, o.completeInstall, o.completeFiles, o.completeCluster, o.completePlacement} {
		if err := part(); err != nil {
			return err
		}
	}
	return o.flags.Validate()
}

func (o *options) completeVersions() error {
	o.trial.Versions = map[string]string{}
	for _, pair := range o.versions {
		addOn, version, ok := strings.Cut(pair, "=")
		if !ok || addOn == "" || version == "" {
			return fmt.Errorf("--version=%q: must be ADDON=VERSION", pair)
		}
		if other, twice := o.trial.Versions[addOn]; twice && other != version {
			return fmt.Errorf("--version=%q: %s is also %q; name one version of an add-on", pair, addOn, other)
		}
		if slices.Contains(o.trial.Remove, addOn) {
			return fmt.Errorf("--version=%q and --remove=%q: choose one; a removed add-on has no version", pair, addOn)
		}
		if _, err := semver.NewVersion(version); err != nil {
			return fmt.Errorf("--version=%q: %w, as in %s=1.36.0", pair, err, addOn)
		}
		o.trial.Versions[addOn] = version
	}
	return nil
}

func (o *options) completeInstall() error {
	o.trial.Install = sets.List(sets.New(o.trial.Install...))
	for _, addOn := range o.trial.Install {
		if slices.Contains(o.trial.Remove, addOn) {
			return fmt.Errorf("--install=%q and --remove=%q: choose one", addOn, addOn)
		}
	}
	return nil
}

// completeFiles reads what is tried of files.
func (o *options) completeFiles() error {
	if slices.Contains(o.files, "-") && (o.placement == "-" || o.source.IsStdin()) || o.placement == "-" && o.source.IsStdin() {
		return errors.New("only one of --filename, --placement and --from can be -: standard input is read once")
	}
	files, err := manifest.Read(o.files, o.In)
	for _, one := range files.Skipped {
		fmt.Fprintln(o.ErrOut, text.OneLine(one.Error()))
	}
	if err := cmp.Or(err, files.Err()); err != nil {
		return err
	}
	return o.try(files)
}

func (o *options) completeCluster() error {
	for flag, version := range map[string]string{"kubernetes": o.trial.Kubernetes, "ocm": o.trial.OCM} {
		if _, err := semver.NewVersion(version); version != "" && err != nil {
			return fmt.Errorf("--%s=%q: %w, as in 1.36.0", flag, version, err)
		}
	}
	if len(o.trial.Install)+len(o.trial.Remove)+len(o.trial.Versions)+len(o.files) == 0 && o.trial.Kubernetes == "" && o.trial.OCM == "" {
		return errors.New("name a change: --install, --remove, --version, --kubernetes, --ocm or -f")
	}
	return nil
}

// completePlacement reads the Placement, if one is named.
func (o *options) completePlacement() (err error) {
	if o.placement == "" {
		return nil
	}
	if o.placed, err = readPlacement(o.placement, o.In); err != nil {
		return err
	}
	if o.placed.placement.Namespace == "" && !o.source.IsFile() {
		return fmt.Errorf("%s: Placement %q has no metadata.namespace: the ManagedClusterSets that are bound to it count", o.placement, o.placed.placement.Name)
	}
	return nil
}

// try adds what files have to what is tried.
func (o *options) try(files *manifest.Files) error {
	for _, one := range files.Manifests {
		if slices.ContainsFunc(o.trial.Registrations, func(other addonv1alpha1.ClusterManagementAddOn) bool { return other.Name == one.AddOn.Name }) {
			return fmt.Errorf("--filename=%q: %s is declared twice; name one file for it", one.Path, text.Name(one.AddOn.Name))
		}
		o.trial.Registrations = append(o.trial.Registrations, one.AddOn)
	}
	for _, one := range files.Policies {
		if slices.ContainsFunc(o.trial.Policies, func(other dependencyv1alpha1.AddOnDependencyPolicy) bool { return other.Name == one.Policy.Name }) {
			return fmt.Errorf("--filename=%q: policy %s is there twice; name one file for it", one.Path, text.Name(one.Policy.Name))
		}
		o.trial.Policies = append(o.trial.Policies, one.Policy)
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	cluster := o.source.Cluster(o.allNamespaces)
	fleet, err := o.source.Snapshot(ctx, cluster, snapshot.Also{Registrations: o.trial.Registrations, Policies: o.trial.Policies})
	if err != nil {
		return err
	}
	if err := o.check(fleet, cluster); err != nil {
		return err
	}
	if err := o.place(ctx, fleet); err != nil {
		return err
	}
	found := report.FindImpact(fleet, cluster, o.trial)
	if found.Clusters == 0 {
		return o.nothing(found)
	}
	for _, addOn := range o.trial.Registrations {
		if source.CheckInstalled(fleet, addOn.Name, cluster) != nil && !slices.Contains(o.trial.Install, addOn.Name) {
			fmt.Fprintf(o.ErrOut, "%s is installed nowhere, so its own dependencies were not tried: kubectl addon describe -f shows them.\n", text.Name(addOn.Name))
		}
	}
	if err := o.flags.Print(o.Out, found, func() error { return o.printImpact(found) }); err != nil {
		return err
	}
	if found.Breaks() {
		return o.breaks(found)
	}
	return nil
}

// check returns an error if an add-on does not exist that a flag names.
func (o *options) check(fleet *snapshot.Snapshot, cluster string) error {
	for _, name := range slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(o.trial.Versions)), o.trial.Remove...))) {
		if slices.Contains(o.trial.Install, name) {
			continue
		}
		if err := source.CheckInstalled(fleet, name, cluster); err != nil {
			return err
		}
	}
	for _, name := range o.trial.Install {
		if !slices.ContainsFunc(slices.Concat(fleet.Registrations, o.trial.Registrations),
			func(addOn addonv1alpha1.ClusterManagementAddOn) bool { return addOn.Name == name }) {
			return fmt.Errorf("add-on %q has no ClusterManagementAddOn: name its file with -f", name)
		}
	}
	return nil
}

// place limits the trial to what the Placement selects, if there is one.
func (o *options) place(ctx context.Context, fleet *snapshot.Snapshot) (err error) {
	if o.placed == nil {
		return nil
	}
	var hub client.Reader
	if !o.source.IsFile() {
		if hub, err = o.source.Reader(); err != nil {
			return err
		}
	}
	o.trial.Placement, err = o.placed.selects(ctx, fleet, *o.source.Config.Namespace == "", hub)
	return err
}

// nothing is the error where there is no managed cluster to try a change on.
func (o *options) nothing(found *report.Impact) error {
	if placed := found.Placement; placed != nil && found.Lost == 0 {
		return fmt.Errorf("nothing was tried: Placement %q selects no managed cluster: %s", placed.Name,
			cmp.Or(strings.Join(placed.Notes, "; "), "no cluster matches, or taints are not tolerated"))
	}
	return fmt.Errorf("nothing was tried: no managed cluster can be reached (lost: %d); kubectl get managedclusters lists them", found.Lost)
}
