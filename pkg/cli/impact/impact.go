// Package impact is the verb of kubectl addon that finds the dependencies that a change would break, before it is made.
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
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
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
	// placementPath is the file of the Placement that limits the change. It may be empty.
	placementPath string
	// placement is nil without a placementPath.
	placement *placementFile
	trial     report.Trial
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(output.Wide)}
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
	o.source.AddClusterFlags(command)
	flags.StringSliceVar(&o.trial.Remove, "remove", nil, "The add-on is uninstalled. Can be repeated.")
	flags.StringSliceVar(&o.trial.Install, "install", nil,
		"The add-on is installed, and available, on managed clusters that do not have it yet. Can be repeated.")
	flags.StringVar(&o.placementPath, "placement", "", "Only on the managed clusters that the Placement in this `FILE` selects, - for standard input.")
	flags.StringSliceVar(&o.versions, "version", nil, "The add-on reports this version, as ADDON=VERSION. Can be repeated.")
	flags.StringVar(&o.trial.Kubernetes, "kubernetes", "", "Managed clusters run this version of Kubernetes.")
	flags.StringVar(&o.trial.OCM, "ocm", "", "The hub runs this version of Open Cluster Management.")
	flags.StringSliceVarP(&o.files, "filename", "f", nil,
		"File with ClusterManagementAddOns or AddOnDependencyPolicies as they would be, - for standard input. Can be repeated.")
	o.flags.AddTo(command)
	return command
}

func (o *options) complete([]string) error {
	for _, complete := range []func() error{o.completeVersions, o.completeInstall, o.completeFiles, o.completeCluster, o.completePlacement} {
		if err := complete(); err != nil {
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
		if first, ok := o.trial.Versions[addOn]; ok && first != version {
			return fmt.Errorf("--version=%q: %s is also %q; name one version of an add-on", pair, addOn, first)
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

// completeFiles reads the registrations and policies of the trial.
func (o *options) completeFiles() error {
	if slices.Contains(o.files, "-") && (o.placementPath == "-" || o.source.IsStdin()) || o.placementPath == "-" && o.source.IsStdin() {
		return errors.New("only one of --filename, --placement and --from can be -: standard input is read once")
	}
	files, err := manifest.Read(o.files, o.In)
	for _, skipped := range files.Skipped {
		fmt.Fprintln(o.ErrOut, text.OneLine(skipped.Error()))
	}
	if err := cmp.Or(err, files.Err()); err != nil {
		return err
	}
	return o.addFiles(files)
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
func (o *options) completePlacement() error {
	if o.placementPath == "" {
		return nil
	}
	var err error
	if o.placement, err = readPlacement(o.placementPath, o.In); err != nil {
		return err
	}
	if placement := o.placement.placement; placement.Namespace == "" && !o.source.IsFile() {
		return fmt.Errorf("%s: Placement %q has no metadata.namespace: the ManagedClusterSets that are bound to it count",
			o.placementPath, placement.Name)
	}
	return nil
}

// addFiles adds the registrations and policies of files to the trial.
func (o *options) addFiles(files *manifest.Files) error {
	for _, file := range files.Manifests {
		hasName := func(addOn addonv1alpha1.ClusterManagementAddOn) bool { return addOn.Name == file.AddOn.Name }
		if slices.ContainsFunc(o.trial.Registrations, hasName) {
			return fmt.Errorf("--filename=%q: %s is declared twice; name one file for it", file.Path, text.Name(file.AddOn.Name))
		}
		o.trial.Registrations = append(o.trial.Registrations, file.AddOn)
	}
	for _, file := range files.Policies {
		hasName := func(policy dependencyv1alpha1.AddOnDependencyPolicy) bool { return policy.Name == file.Policy.Name }
		if slices.ContainsFunc(o.trial.Policies, hasName) {
			return fmt.Errorf("--filename=%q: policy %s is there twice; name one file for it", file.Path, text.Name(file.Policy.Name))
		}
		o.trial.Policies = append(o.trial.Policies, file.Policy)
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	cluster := o.source.Cluster()
	fleet, err := o.source.Snapshot(ctx, cluster, snapshot.Additions{Registrations: o.trial.Registrations, Policies: o.trial.Policies})
	if err != nil {
		return err
	}
	if err := o.checkNames(fleet, cluster); err != nil {
		return err
	}
	if err := o.applyPlacement(ctx, fleet); err != nil {
		return err
	}
	impact := report.FindImpact(fleet, cluster, o.trial)
	if impact.Clusters == 0 {
		return untriedError(impact)
	}
	for _, addOn := range o.trial.Registrations {
		if source.CheckInstalled(fleet, addOn.Name, cluster) != nil && !slices.Contains(o.trial.Install, addOn.Name) {
			fmt.Fprintf(o.ErrOut, "%s is installed nowhere, so its own dependencies were not tried: kubectl addon describe -f shows them.\n",
				text.Name(addOn.Name))
		}
	}
	if err := o.flags.Print(o.Out, impact, func() error { return o.printImpact(impact) }); err != nil {
		return err
	}
	if impact.Breaks() {
		return o.breakError(impact)
	}
	return nil
}

// checkNames returns an error if an add-on does not exist that a flag names.
func (o *options) checkNames(fleet *snapshot.Snapshot, cluster string) error {
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

// applyPlacement limits the trial to the managed clusters that the Placement selects. Without a Placement, it does nothing.
func (o *options) applyPlacement(ctx context.Context, fleet *snapshot.Snapshot) error {
	if o.placement == nil {
		return nil
	}
	var hub client.Reader
	var err error
	if !o.source.IsFile() {
		if hub, err = o.source.Reader(); err != nil {
			return err
		}
	}
	o.trial.Placement, err = o.placement.selectClusters(ctx, fleet, o.source.IsWholeFleet(), hub)
	return err
}

// untriedError returns the error for a change that was tried on no managed cluster.
func untriedError(impact *report.Impact) error {
	if selection := impact.Placement; selection != nil && impact.Lost == 0 {
		return fmt.Errorf("nothing was tried: Placement %q selects no managed cluster: %s", selection.Name,
			cmp.Or(strings.Join(selection.Notes, "; "), "no cluster matches, or taints are not tolerated"))
	}
	return fmt.Errorf("nothing was tried: no managed cluster can be reached (lost: %d); kubectl get managedclusters lists them", impact.Lost)
}
