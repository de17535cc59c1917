// Package uninstallcmd is the verb of kubectl addon that removes add-ons from managed clusters, dependents first.
package uninstallcmd

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
)

var texts = planned.Texts{Does: "uninstall", Done: "uninstalled", Writes: "Delete", Because: "ONLY NEEDED BY", Waits: "being removed"}

// The values of --cascade.
const (
	keep = "keep"
	unit = "unit"
)

type options struct {
	planned.Options
	cascade string
	// force is the reason for a removal of add-ons that remaining add-ons require. It is empty without such a removal.
	force string
	// shown are warnings that the plan shows. The hub sends the same ones for each deletion.
	shown sets.Set[string]
	// uids has the UIDs of the ManagedClusterAddOns of the plan. Objects with other UIDs are not deleted.
	uids map[types.NamespacedName]types.UID
	// reread reads the managed clusters again, before each layer but the first.
	reread func(context.Context) (*planned.Fleet, error)
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{
		Options: planned.Options{IOStreams: streams, Source: src, Flags: output.NewFlags(), Verbs: []string{"delete"}}, shown: sets.New[string](),
	}
	o.reread = func(ctx context.Context) (*planned.Fleet, error) { return o.Fleet(ctx, o.inputs()) }
	command := &cobra.Command{
		Use:   "uninstall ADDON...",
		Short: "Uninstall add-ons, dependents first",
		Long: `Uninstall add-ons from managed clusters. It first shows a plan, and asks. The plan has layers:
an add-on is in a layer after all that need it. With --wait, a layer is uninstalled once all
add-ons of the one before are gone. Without it, all layers are uninstalled at once, and add-ons
with ordering go in order nevertheless, where addon-manager runs with --lifecycle.

It deletes ManagedClusterAddOns. With --cascade=unit, it also uninstalls what only these
add-ons needed, if Interlock or kubectl addon install has installed it, no other writer has
changed it since, and no other add-on on the cluster has a dependency on it, Optional ones
included. If it is interrupted, it prints the commands that uninstall what is left.

If an add-on that stays requires one of them, if a Placement would install one again, or if
any other part of the plan cannot be done, nothing is, and it exits with 1. --force uninstalls
what is required nevertheless. Its reason is in an event where protection enforces.`,
		Example: `  # What would be uninstalled with cluster-gateway?
  kubectl addon uninstall cluster-gateway --cluster cluster1 --cascade=unit --plan

  # Uninstall it, and wait until it is gone
  kubectl addon uninstall cluster-gateway --cluster cluster1 --wait

  # The plan as data
  kubectl addon uninstall cluster-gateway --cluster cluster1 --cascade=unit --plan -o json

  # Although other add-ons require it
  kubectl addon uninstall managed-serviceaccount --cluster cluster1 --force "it is replaced by hand"`,
		RunE: func(command *cobra.Command, args []string) error {
			if err := o.complete(args, command.Flags().Changed("force")); err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(command.Context())
		},
	}
	o.AddFlags(command, "uninstall")
	command.Flags().StringVar(&o.cascade, "cascade", keep, "Which add-ons: keep uninstalls only the named ones, unit also what only they needed.")
	command.Flags().StringVar(&o.force, "force", "", "The `REASON` to uninstall what add-ons that stay require.")
	complete := cobra.FixedCompletions([]string{keep, unit}, cobra.ShellCompDirectiveNoFileComp)
	_ = command.RegisterFlagCompletionFunc("cascade", complete) // the flag exists
	return command
}

func (o *options) complete(args []string, forced bool) error {
	switch {
	case o.cascade != keep && o.cascade != unit:
		return fmt.Errorf("--cascade=%q: must be keep or unit", o.cascade)
	case forced && strings.TrimSpace(o.force) == "":
		return errors.New("--force is empty: give a reason")
	case forced:
		o.Verbs = append(o.Verbs, "patch") // the reason is an annotation
	}
	return o.Complete(args)
}

func (o *options) run(ctx context.Context) error {
	return o.Run(ctx, planned.Verb{
		Texts: texts, Additions: o.inputs(), Shown: o.shown, Check: check, Plan: o.plan, Try: o.try, Print: o.print,
		Same: func(a, b *steps.Plan) bool { return reflect.DeepEqual(a, b) },
		Do:   func(ctx context.Context, _ *planned.Fleet, plan *steps.Plan) error { return o.uninstall(ctx, plan) },
	})
}

// inputs returns the inputs of a plan besides the decisions of Placements.
func (o *options) inputs() snapshot.Additions {
	return snapshot.Additions{Objects: true, Writers: o.cascade == unit}
}

func check(fleet *planned.Fleet, addOn string) error {
	if !slices.Contains(fleet.Declared.AddOns(), addOn) && !fleet.IsInstalled(addOn, "") {
		return fmt.Errorf("add-on %q is neither registered nor installed: kubectl addon status -A lists what is installed", addOn)
	}
	return nil
}

func (o *options) plan(_ context.Context, fleet *planned.Fleet) (*steps.Plan, error) {
	plan := steps.Remove(fleet.Declared, o.removal(), fleet.Clusters)
	o.uids = uidsOf(fleet.Snapshot)
	if o.cascade == unit && o.Source.IsFile() {
		o.noteUnread(plan)
	}
	o.warnOfObjects(fleet, plan)
	return plan, nil
}

func (o *options) removal() steps.Removal {
	return steps.Removal{AddOns: o.AddOns, Unit: o.cascade == unit, Forced: o.force != "", Wait: o.Wait && !o.Flags.IsData()}
}

// uidsOf returns the UIDs of the ManagedClusterAddOns of a snapshot.
func uidsOf(fleet *snapshot.Snapshot) map[types.NamespacedName]types.UID {
	uids := make(map[types.NamespacedName]types.UID, len(fleet.AddOns))
	for _, addOn := range fleet.AddOns {
		uids[client.ObjectKeyFromObject(addOn)] = addOn.UID
	}
	return uids
}

// noteUnread adds a note to the plan if it removes add-ons that the user did not name, because a file lacks their field managers.
func (o *options) noteUnread(plan *steps.Plan) {
	clusters := sets.New[string]()
	for _, step := range slices.Concat(plan.Layers...) {
		if !slices.Contains(o.AddOns, step.AddOn) {
			clusters.Insert(step.Clusters...)
		}
	}
	if len(clusters) > 0 {
		plan.Findings = append(plan.Findings, steps.Finding{
			Text:     "a file does not have whether another writer has taken over what was not named; a hub has, and that stays",
			Clusters: sets.List(clusters),
		})
	}
}

func (o *options) print(fleet *planned.Fleet, plan *steps.Plan) error {
	return o.Flags.Print(o.Out, report.RemovalOf(plan), func() error { return o.Print(fleet, plan, texts) })
}
