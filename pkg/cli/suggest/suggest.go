// Package suggest is the verb of kubectl addon that finds dependencies that add-ons use and do not declare, and versions that they do
// not report.
package suggest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/scheme"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/plan/suggestion"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

type options struct {
	genericiooptions.IOStreams
	source *source.Source
	flags  *output.Flags
	result *report.Suggestions
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(formatYAML)}
	command := &cobra.Command{
		Use:   "suggest [ADDON]",
		Short: "Find dependencies that add-ons do not declare, and versions that they do not report",
		Long: `Find add-ons that use APIs of other add-ons. It compares the objects that an add-on installs
on managed clusters, and the rules of its roles, with the CustomResourceDefinitions that
other add-ons install there. Declared dependencies do not count, nor do the APIs of
Kubernetes and of Open Cluster Management itself.

The result is evidence, not proof: a rule may no longer be needed. If the add-on works
without the API, make the dependency Optional. Optional is suggested where a Required one
would close a cycle. It does not find what an add-on creates or connects to while it runs.

It also finds the add-ons of which no version is known on some managed clusters, and proposes
the version in the tag of the image that runs there: that of the first container in the
ManifestWork of each cluster, or in the AddOnTemplate. The result has commands that set it.

It lists addontemplates, and manifestworks: of each add-on without a template, on the first
managed cluster that has the add-on; of those without a known version, on all; with -n, on
that cluster alone. Without the right to manifestworks, it uses the AddOnTemplates, and says
so. It cannot read a snapshot.`,
		Example: `  # All add-ons
  kubectl addon suggest

  # To paste into spec.dependencies
  kubectl addon suggest cluster-gateway -o yaml

  # The version of an add-on that reports none
  kubectl addon suggest cluster-proxy`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.flags.Validate(); err != nil {
				return cmdline.UsageError(err)
			}
			if o.source.IsFile() {
				return cmdline.UsageError(errors.New("a snapshot has no AddOnTemplates and no ManifestWorks: suggest reads a hub, without --from"))
			}
			addOn, err := source.AddOn(args)
			if err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(command.Context(), addOn)
		},
	}
	o.source.AddClusterFlags(command)
	o.flags.AddTo(command)
	return command
}

func (o *options) run(ctx context.Context, addOn string) error {
	cluster := o.source.Cluster()
	fleet, err := o.source.Snapshot(ctx, cluster)
	if err != nil {
		return err
	}
	catalog := catalog.New(fleet.Registrations)
	if addOn != "" && !slices.Contains(catalog.AddOns(), addOn) {
		return fmt.Errorf("add-on %q has no ClusterManagementAddOn: kubectl get clustermanagementaddons lists those that exist", addOn)
	}
	hub, err := o.source.Reader()
	if err != nil {
		return err
	}
	workloads, err := load(ctx, hub, fleet.AddOns)
	if err != nil {
		return err
	}
	o.result = report.SuggestionsFor(addOn, suggestion.Find(catalog, workloads.items, isBuiltIn))
	finder := evidenceFinder{hub: hub, cluster: cluster, workloads: workloads}
	evidence, err := finder.find(ctx, fleet, addOn)
	if err != nil {
		return err
	}
	o.result.Versions = suggestion.Versions(evidence, o.source.IsWholeFleet())
	for _, problem := range workloads.problems {
		fmt.Fprintln(o.ErrOut, problem)
	}
	if workloads.worksErr != nil {
		fmt.Fprintf(o.ErrOut, "ManifestWorks are left out: %s\n", text.OneLine(workloads.worksErr.Error()))
	}
	return o.flags.Print(o.Out, o.result, func() error { return o.show(len(workloads.items)) })
}

// isBuiltIn reports whether a group of APIs is a part of Kubernetes.
func isBuiltIn(group string) bool {
	return scheme.Scheme.IsGroupRegistered(group) || group == "apiextensions.k8s.io" || group == "apiregistration.k8s.io"
}
