// Package indexcmd is the verb of kubectl addon that makes indexes of releases, from which the verb resolve chooses.
package indexcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/offline/objectfiles"
	"open-cluster-management.io/interlock/pkg/text"
)

type options struct {
	genericiooptions.IOStreams
	source *source.Source
	// folder is the folder of the index.
	folder string
	// origin describes the source of the manifests, for readers.
	origin   string
	chart    string
	live     bool
	versions map[string]string
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	command := &cobra.Command{
		Use:   "index",
		Short: "Keep the releases of add-ons in a folder",
		Long: `Keep the releases of add-ons in a folder, an index: a file addons/NAME/VERSION.yaml for each
version of an add-on, with its manifests and their digest. kubectl addon resolve chooses
versions from it.`,
		Args: cobra.NoArgs,
	}
	command.AddCommand(newBuildCommand(src, streams))
	return command
}

func newBuildCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src}
	command := &cobra.Command{
		Use:   "build [FILE|DIR...]",
		Short: "Add releases of add-ons to an index",
		Long: `Add the add-ons in files and folders to an index, each in the version that its manifests
report: the annotation dependency.addon.open-cluster-management.io/version of its
AddOnTemplate or ClusterManagementAddOn. If they report none, name it with --version, which
adds the annotation to the ClusterManagementAddOn in the index.

An AddOnTemplate belongs to the add-on that it names. Each one that the ClusterManagementAddOn
names, as the default or for a Placement, has to be there. Any other object belongs to the
add-on in the same file, else to the one in the same folder. A folder with a kustomization is
built as kubectl apply -k builds it.

With --chart, it renders a Helm chart with the values of the chart. Add-ons whose manifests
report no version have that of the chart. For other values, use Helm:
helm template CHART --values FILE | kubectl addon index build -
The dependencies of Chart.yaml are charts and no add-ons, so nothing is read of them.
Helm hooks are left out, with a message for each: only Helm creates them at the right moment.
The kubeVersion of Chart.yaml becomes the requirement on Kubernetes of its add-ons. A chart
with a random value, such as a generated password, is refused.

With --live, it adds what is registered on the hub: ClusterManagementAddOns, their
AddOnTemplates, and the AddOnDeploymentConfigs that they name by default or for a
Placement, without what the hub has added to them.

An add-on that kubectl addon lint refuses by itself is not added. Warnings of lint are printed,
except those about messages, and about add-ons that are registered elsewhere. A version that
the index has with another content is an error: locks name its digest.`,
		Example: `  # From the manifests of an add-on
  kubectl addon index build deploy/ --to index

  # From a Helm chart
  kubectl addon index build --chart cluster-gateway-1.4.0.tgz --to index

  # From a hub
  kubectl addon index build --live --to index`,
		RunE: func(command *cobra.Command, args []string) error {
			inputs := 0
			for _, isSet := range []bool{o.live, o.chart != "", len(args) > 0} {
				if isSet {
					inputs++
				}
			}
			switch {
			case inputs != 1:
				return cmdline.UsageError(errors.New("name files and folders, or --chart, or --live for the hub"))
			case o.live && src.IsFile():
				return cmdline.UsageError(errors.New("a snapshot has no manifests: --live reads a hub, without --from"))
			}
			return o.build(command.Context(), args)
		},
	}
	cmdline.NotEmptyVar(command, &o.folder, "to", "", "index", "The folder of the index.")
	command.Flags().StringVar(&o.origin, "source", "", "Where the manifests are from, for readers, such as the URL of a chart.")
	command.Flags().StringVar(&o.chart, "chart", "", "A Helm chart, as a `DIR|TGZ`.")
	command.Flags().BoolVar(&o.live, "live", false, "Add what is registered on the hub.")
	command.Flags().StringToStringVar(&o.versions, "version", nil, "The version of an add-on whose manifests report none, as `ADDON=VERSION`.")
	return command
}

func (o *options) build(ctx context.Context, paths []string) error {
	var entries []index.Entry
	var err error
	switch {
	case o.live:
		entries, err = o.buildLive(ctx)
	case o.chart != "":
		entries, err = o.buildChart()
	default:
		entries, err = o.buildFiles(paths)
	}
	if err == nil {
		err = o.checkReported(entries)
	}
	if err != nil {
		return err
	}
	for i := range entries {
		entry := &entries[i]
		written, err := index.Write(o.folder, &entry.Release)
		if err != nil {
			return err
		}
		result := "is there already"
		if written {
			result = "was added"
		}
		fmt.Fprintf(o.Out, "%s %s %s\n", entry.Name, entry.Version, result)
		for _, template := range entry.UnnamedTemplates {
			fmt.Fprintf(o.ErrOut, "%s %s: left out the AddOnTemplate %s, which the ClusterManagementAddOn does not name\n",
				entry.Name, entry.Version, text.Name(template))
		}
	}
	return nil
}

func (o *options) buildFiles(paths []string) ([]index.Entry, error) {
	objects, leftOut, err := objectfiles.Read(paths, o.In, o.folder)
	if err != nil {
		return nil, cmdline.UsageError(err)
	}
	o.report(leftOut)
	objects = o.withoutHooks(objects)
	if err := errors.Join(o.checkVersions(objects), checkUsable(objects)); err != nil {
		return nil, err
	}
	o.warn(objects)
	entries, err := index.Build(objects, cmp.Or(o.origin, strings.Join(paths, " ")), o.versions)
	return entries, advise(err)
}

// withoutHooks leaves out Helm hooks, with a message for each.
func (o *options) withoutHooks(objects []manifest.Object) []manifest.Object {
	kept, messages := index.WithoutHooks(objects)
	o.report(messages)
	return kept
}

// report prints messages about what is left out.
func (o *options) report(messages []string) {
	for _, message := range messages {
		fmt.Fprintln(o.ErrOut, text.OneLine(message))
	}
}

// checkVersions returns an error if --version names an add-on that was not read.
func (o *options) checkVersions(objects []manifest.Object) error {
	read := index.AddOns(objects)
	for _, name := range slices.Sorted(maps.Keys(o.versions)) {
		if slices.Contains(read, name) {
			continue
		}
		names := text.Names(slices.Compact(slices.Sorted(slices.Values(read))), ", ")
		return cmdline.UsageError(fmt.Errorf("--version: add-on '%s' is not in what was read: %s", text.Name(name), cmp.Or(names, "no add-on")))
	}
	return nil
}

// checkReported returns an error if --version names another version than the manifests report.
func (o *options) checkReported(entries []index.Entry) error {
	var errs []error
	for i := range entries {
		entry := &entries[i]
		if version, ok := o.versions[entry.Name]; ok && version != entry.Version {
			errs = append(errs, fmt.Errorf("--version: add-on '%s' has version %s in its manifests, and not %s: leave it out here, or change the "+
				"annotation %s", text.Name(entry.Name), entry.Version, text.Excerpt(version), addonv1alpha1.AddOnVersionAnnotation))
		}
	}
	if errs == nil {
		return nil
	}
	return cmdline.UsageError(errors.Join(errs...))
}

// advise names the flag for an add-on without a version.
func advise(err error) error {
	if name, ok := index.Unversioned(err); ok {
		return fmt.Errorf("%w, or name it with --version %s=1.2.3", err, name)
	}
	return err
}
