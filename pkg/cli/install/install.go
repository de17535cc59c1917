// Package install is the verb of kubectl addon that installs add-ons with all that they need, layer by layer.
package install

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/dependency/steps"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

var texts = planned.Texts{Does: "install", Done: "installed", Because: "NEEDED BY", Waits: "installed, not ready"}

type options struct {
	planned.Options
	flags    *output.Flags
	optional bool
	hub      client.Client
	host     string
}

// NewCommand returns the verb.
func NewCommand(from *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{Options: planned.Options{IOStreams: streams, Source: from}, flags: output.NewFlags()}
	command := &cobra.Command{
		Use:   "install ADDON...",
		Short: "Install add-ons with all that they need",
		Long: `Install add-ons on managed clusters, with the Required dependencies that are not installed
there, and theirs. It first shows a plan, and asks. The plan has layers: what an add-on needs
is in a layer before it. With --wait, a layer is installed once all add-ons of the one
before are available and their dependencies are satisfied. That counts for what is installed
already, too. Without it, all layers are installed at once.

It creates ManagedClusterAddOns. It changes no version, and nothing that exists. An add-on that
Placements install is left to Open Cluster Management: the plan names the Placement that
has to select the cluster. If any part of the plan cannot be done, nothing is, and it exits
with 1. Another run continues where one was interrupted.

Of several alternatives, it takes the first that is registered, unless one is installed or
named. For an API, it takes the only add-on that provides it.`,
		Example: `  # What would be installed on cluster1?
  kubectl addon install cluster-gateway --cluster cluster1 --plan

  # Install it on two managed clusters, layer by layer
  kubectl addon install cluster-gateway --cluster cluster1,cluster2 --wait

  # In a pipeline, on all managed clusters with a label
  kubectl addon install cluster-gateway --selector tier=edge --yes --wait --timeout 30m

  # For GitOps: the ManagedClusterAddOns to commit
  kubectl addon install cluster-gateway --cluster cluster1 --plan -o yaml`,
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(command.Context())
		},
	}
	o.AddFlags(command.Flags(), "install")
	command.Flags().BoolVar(&o.optional, "with-optional", false, "Also install Optional dependencies.")
	o.flags.AddTo(command)
	_ = command.Flags().MarkHidden("no-headers") // it has no effect here
	return command
}

func (o *options) complete(args []string) error {
	if err := o.Complete(args); err != nil {
		return err
	}
	if o.flags.Chosen() && !o.Only {
		return errors.New("--output needs --plan")
	}
	return o.flags.Validate()
}

func (o *options) run(ctx context.Context) error {
	on, plan, err := o.plan(ctx)
	if err != nil {
		return err
	}
	if o.flags.IsData() {
		return o.printManifests(plan)
	}
	if err := o.Print(on, plan, texts); err != nil {
		return err
	}
	switch {
	case !plan.Feasible():
		return planned.Infeasible(plan, texts)
	case o.Only:
		return nil
	}
	if size := planned.Size(plan); size > 0 && o.Asks() {
		question := fmt.Sprintf("\nCreate %s?", text.Count(size, "ManagedClusterAddOn"))
		if plan, err = o.confirm(ctx, question, plan); err != nil {
			return err
		}
	}
	return o.install(ctx, on, plan)
}

// plan reads the hub and plans. Where it can be, each write is tried, so that what the hub refuses is in the plan.
func (o *options) plan(ctx context.Context) (*planned.Fleet, *steps.Plan, error) {
	on, err := o.Fleet(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range o.AddOns {
		if !slices.Contains(on.Declared.AddOns(), name) {
			return nil, nil, fmt.Errorf("add-on %q has no ClusterManagementAddOn: kubectl get clustermanagementaddons lists what is registered", name)
		}
	}
	wanted := steps.Installation{
		AddOns: o.AddOns, Optional: o.optional, Wait: o.Wait && !o.flags.IsData(), Templates: templates(ctx, on.Snapshot),
	}
	plan := steps.Install(on.Declared, wanted, on.Clusters)
	if o.Source.IsFile() {
		return on, plan, nil
	}
	if o.hub == nil {
		if o.hub, o.host, err = o.Source.ConnectToWrite(nil); err != nil {
			return nil, nil, err
		}
	}
	return on, plan, o.try(ctx, plan)
}

// templates are the AddOnTemplates that add-ons run once they are installed: the defaults of their registrations.
func templates(ctx context.Context, of *snapshot.Snapshot) map[string]versions.Templates {
	all := map[string]versions.Templates{}
	for i := range of.Registrations {
		name := fleet.DefaultTemplate(&of.Registrations[i])
		if name == "" {
			continue
		}
		if version, read, err := of.TemplateVersion(ctx, name); read && err == nil {
			all[of.Registrations[i].Name] = versions.Templates{Name: name, Running: version}
		}
	}
	return all
}

// confirm asks a person, and plans again: the hub may have changed meanwhile.
// It returns the new plan.
func (o *options) confirm(ctx context.Context, question string, plan *steps.Plan) (*steps.Plan, error) {
	if err := o.Confirm(ctx, question); err != nil {
		return nil, err
	}
	_, again, err := o.plan(ctx)
	if err != nil {
		return nil, err
	}
	if !same(plan, again) {
		return nil, planned.Changed(texts)
	}
	return again, nil
}

// same reports whether two plans install the same. What they wait for does not count: that becomes ready while a person reads.
func same(one, other *steps.Plan) bool {
	return reflect.DeepEqual(installed(one), installed(other)) &&
		reflect.DeepEqual(one.Problems, other.Problems) && reflect.DeepEqual(one.Findings, other.Findings)
}

// installed are the add-ons that a plan installs by their managed clusters, and whether OCM does.
func installed(plan *steps.Plan) map[types.NamespacedName]bool {
	all := map[types.NamespacedName]bool{}
	for _, step := range slices.Concat(plan.Layers...) {
		for _, cluster := range step.Clusters {
			if !step.Waits {
				all[types.NamespacedName{Namespace: cluster, Name: step.AddOn}] = step.ByOCM
			}
		}
	}
	return all
}
