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
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

var texts = planned.Texts{Does: "install", Done: "installed", Writes: "Create", Because: "NEEDED BY", Waits: "installed, not ready"}

type options struct {
	planned.Options
	choice
	optional bool
	// displaced is the spec of the AddOnDeploymentConfig that variables of the user displace. It may be nil.
	displaced map[string]any
	// configured are the add-ons whose new ManagedClusterAddOns refer to the AddOnDeploymentConfig of Interlock.
	configured sets.Set[string]
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{Options: planned.Options{
		IOStreams: streams, Source: src, Flags: output.NewFlags().WithoutTemplate(), Verbs: []string{"create"},
	}}
	command := &cobra.Command{
		Use:   "install ADDON...",
		Short: "Install add-ons with all that they need",
		Long: `Install add-ons on managed clusters, with the Required dependencies that are not installed
there, and theirs. It first shows a plan, and asks. The plan has layers: what an add-on needs
is in a layer before it. With --wait, a layer is installed once all add-ons of the one
before are available and their dependencies are satisfied. That counts for what is installed
already, too. Without it, all layers are installed at once.

It creates ManagedClusterAddOns. It changes no version, and nothing that exists. For one named
add-on, --version or --template choose its AddOnTemplate, and --set its variables; what it
needs is planned for that version. An add-on that
Placements install is left to Open Cluster Management: the plan names the Placement that
has to select the cluster. Where Interlock has it installed for an add-on of the plan, with
install: Auto, it is in the same layer. If any part of the plan cannot be done, nothing is,
and it exits with 1. Another run continues where one was interrupted.

Of several alternatives, it takes the first that is registered, unless one is installed or
named. For an API, it takes the only add-on that provides it.`,
		Example: `  # What would be installed on cluster1?
  kubectl addon install cluster-gateway --cluster cluster1 --plan

  # Install it on two managed clusters, layer by layer
  kubectl addon install cluster-gateway --cluster cluster1,cluster2 --wait

  # In a pipeline, on all managed clusters with a label
  kubectl addon install cluster-gateway --selector tier=edge --yes --wait --timeout 30m

  # For GitOps: the ManagedClusterAddOns to commit
  kubectl addon install cluster-gateway --cluster cluster1 --plan -o yaml

  # The newest 0.4 of an add-on that is deployed from AddOnTemplates, with a variable
  kubectl addon install tunnel --cluster cluster1 --version 0.4.x --set MODE=grpc`,
		RunE: cmdline.RunE(o.Complete, o.run),
	}
	o.AddFlags(command, "install")
	command.Flags().BoolVar(&o.optional, "with-optional", false, "Also install Optional dependencies.")
	o.addFlags(command.Flags())
	return command
}

// Complete reads the arguments and flags.
func (o *options) Complete(args []string) error {
	if err := o.Options.Complete(args); err != nil {
		return err
	}
	if err := o.complete(o.AddOns); err != nil {
		return err
	}
	if len(o.settings) > 0 && o.Source.IsFile() && o.Flags.IsData() {
		return errors.New("--set and -o need a hub: a file does not have the AddOnDeploymentConfig whose other content the add-on keeps")
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	return o.Run(ctx, planned.Verb{
		Texts:     texts,
		Additions: snapshot.Additions{AllTemplates: o.addOn != ""},
		Check:     o.check,
		Plan:      o.plan,
		Try:       o.try,
		Print:     o.print,
		Same:      same,
		Do:        o.install,
	})
}

func (o *options) check(fleet *planned.Fleet, addOn string) error {
	if !slices.Contains(fleet.Declared.AddOns(), addOn) {
		return fmt.Errorf("add-on %q has no ClusterManagementAddOn: kubectl get clustermanagementaddons lists what is registered", addOn)
	}
	return o.resolve(fleet)
}

func (o *options) plan(ctx context.Context, hub *planned.Fleet) (*steps.Plan, error) {
	if o.Flags.IsData() && o.Hub != nil {
		if err := o.addExisting(ctx, hub.Clusters); err != nil {
			return nil, err
		}
	}
	problem, err := o.readDisplaced(ctx, hub)
	if err != nil {
		return nil, err
	}
	plan := steps.Install(hub.Declared, steps.Installation{
		AddOns: o.AddOns, Optional: o.optional, Wait: o.Wait && !o.Flags.IsData(), Templates: o.templatesToRun(ctx, hub.Snapshot),
		Unset: o.configure(hub.Snapshot),
	}, hub.Clusters)
	o.report(plan)
	if problem != "" {
		plan.Problems = append(plan.Problems, steps.Finding{Text: problem, Named: true})
	}
	return plan, nil
}

func (o *options) print(hub *planned.Fleet, plan *steps.Plan) error {
	if o.Flags.IsData() {
		return o.printManifests(plan)
	}
	return o.Print(hub, plan, texts)
}

// templatesToRun returns the AddOnTemplates of add-ons that are installed: the chosen one, and the defaults of registrations.
func (o *options) templatesToRun(ctx context.Context, hub *snapshot.Snapshot) map[string]versions.Templates {
	templates := map[string]versions.Templates{}
	for i := range hub.Registrations {
		name := fleet.DefaultTemplate(&hub.Registrations[i])
		if hub.Registrations[i].Name == o.addOn && o.template != "" {
			name = o.template
		}
		if name == "" {
			continue
		}
		if version, read, err := hub.TemplateVersion(ctx, name); read && err == nil {
			templates[hub.Registrations[i].Name] = versions.Templates{Name: name, Running: version}
		}
	}
	return templates
}

// same reports whether two plans install the same add-ons. Steps that only wait do not count: they become ready while a person reads.
func same(a, b *steps.Plan) bool {
	return reflect.DeepEqual(installed(a), installed(b)) &&
		reflect.DeepEqual(a.Problems, b.Problems) && reflect.DeepEqual(a.Findings, b.Findings)
}

// installed returns the add-ons that a plan installs. The value is true if OCM installs the add-on.
func installed(plan *steps.Plan) map[types.NamespacedName]bool {
	addOns := map[types.NamespacedName]bool{}
	for _, step := range slices.Concat(plan.Layers...) {
		for _, cluster := range step.Clusters {
			if !step.Waits {
				addOns[types.NamespacedName{Namespace: cluster, Name: step.AddOn}] = step.ByOCM
			}
		}
	}
	return addOns
}
