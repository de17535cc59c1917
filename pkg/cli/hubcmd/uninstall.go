package hubcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/hubrecord"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/rendering"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/rollout"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/hubrelease"
	"open-cluster-management.io/interlock/pkg/text"
)

// uninstallation is a run of uninstall.
type uninstallation struct {
	genericiooptions.IOStreams
	source      *source.Source
	namespace   string
	yes, dryRun bool
	skipJob     bool
	timeout     time.Duration
	hub         *source.Applier
	set         *applyset.Set
	record      *hubrecord.Record
	// hooks are the Job that runs first, and its rights.
	hooks   []*unstructured.Unstructured
	members []*applyset.Member
}

// uninstallTimeout is longer than the Job may take by default.
const uninstallTimeout = 10 * time.Minute

func newUninstall(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	u := &uninstallation{IOStreams: streams, source: src}
	command := &cobra.Command{
		Use:   "uninstall",
		Short: "Uninstall Interlock from a hub",
		Long: `Uninstall what kubectl addon hub install has installed.

First a Job runs addon-manager uninstall, which removes addon-agent and all that Interlock
wrote to the hub, step by step. If it fails, nothing else is deleted, and you can run the
command again. Then the objects of the installation are deleted.

The namespace stays, and so do declarations of add-ons.`,
		Example: `  kubectl addon hub uninstall

  # What it would do
  kubectl addon hub uninstall --dry-run`,
		Args: cobra.NoArgs,
		RunE: cmdline.RunE(u.complete, u.run),
	}
	flags := command.Flags()
	flags.StringVar(&u.namespace, "interlock-namespace", components.DefaultNamespace, "The namespace of Interlock.")
	flags.BoolVarP(&u.yes, "yes", "y", false, "Do not ask.")
	flags.BoolVar(&u.dryRun, "dry-run", false, "Only show what would be done.")
	flags.BoolVar(&u.skipJob, "no-job", false,
		"Delete the objects alone. addon-agent and what Interlock wrote to the hub stay; addon-manager uninstall removes them later.")
	flags.DurationVar(&u.timeout, "timeout", uninstallTimeout, "How long to wait for the Job, and then for the deletions.")
	return command
}

func (u *uninstallation) complete([]string) error {
	switch {
	case u.source.IsFile():
		return errors.New("--from: this verb needs a hub, and not a file")
	case u.timeout <= 0:
		return fmt.Errorf("--timeout=%s: it has to be longer than 0", u.timeout)
	case !u.yes && !u.dryRun && !terminal.Answers(u.In):
		return errors.New("standard input is no terminal, so it cannot be asked whether to go on: use --yes, or --dry-run to see what would be done")
	}
	return nil
}

func (u *uninstallation) run(ctx context.Context) error {
	var err error
	if u.hub, err = u.source.ConnectToApply(); err != nil {
		return err
	}
	u.set = hubrecord.Set(u.hub, u.namespace)
	if err := u.load(ctx); err != nil {
		return source.HubError(err, u.hub.Host)
	}
	if u.record == nil {
		return notInstalled(ctx, u.hub, u.namespace)
	}
	u.printPlan()
	if u.dryRun {
		return nil
	}
	if !u.yes {
		if err := planned.Ask(ctx, u.IOStreams, fmt.Sprintf("\nUninstall Interlock %s?", u.record.Version)); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{u.begin, u.runJob, u.deleteMembers, u.set.DeleteParent} {
		if err := step(ctx); err != nil {
			return fmt.Errorf("interlock %s is not uninstalled completely: %w. Run the command again when this is repaired", u.record.Version, err)
		}
	}
	fmt.Fprintf(u.Out, "Interlock %s is uninstalled. These stay: the namespace %[2]s, declarations of add-ons, and Placements.\n"+
		"docs/install.md#uninstall has the details. To delete the namespace: kubectl delete namespace %[2]s\n", u.record.Version, u.namespace)
	return nil
}

// load reads the record and the members, and renders the hooks.
func (u *uninstallation) load(ctx context.Context) error {
	var err error
	if u.record, err = hubrecord.Read(ctx, u.set); u.record == nil || err != nil {
		return err
	}
	if u.members, err = u.set.Members(ctx, u.record.Kinds); err != nil || u.skipJob {
		return err
	}
	chart, err := hubrelease.ReadChart(u.record.Chart)
	if err != nil {
		return fmt.Errorf("the chart in the Secret %s: %w", u.set.Parent, err)
	}
	rendered, err := rendering.Render(chart, u.record.RenderValues(prefix(u.record.Registry)), rendering.Options{Namespace: u.namespace, Hub: u.hub})
	if err != nil {
		return err
	}
	u.hooks = rendered.PreDelete
	return nil
}

// printPlan prints how many objects are to be deleted, and with --dry-run which.
func (u *uninstallation) printPlan() {
	after := ""
	for _, object := range u.hooks {
		if rendering.IsJob(object) {
			after = fmt.Sprintf(", after the %s has removed what Interlock wrote to the hub", applyset.Describe(object))
		}
	}
	if u.dryRun {
		for _, member := range u.members {
			fmt.Fprintf(u.Out, "delete  %s\n", member)
		}
	}
	fmt.Fprintf(u.Out, "%s of Interlock %s are to be deleted%s.\n", text.Count(len(u.members), "object"), u.record.Version, after)
}

func (u *uninstallation) begin(ctx context.Context) error {
	u.record.State = hubrecord.Uninstalling
	return u.record.Write(ctx, u.set)
}

// runJob runs the Job with its rights, and removes the rights again. A Job that failed stays, with its log.
func (u *uninstallation) runJob(ctx context.Context) error {
	err := u.deleteHooks(ctx, true) // those of an earlier attempt
	for _, object := range u.hooks {
		if err != nil {
			break
		}
		if err = u.hub.Create(ctx, object.DeepCopy(), client.FieldOwner(applyset.Tool)); err != nil {
			err = fmt.Errorf("%s: %w", applyset.Describe(object), err)
			break
		}
		if rendering.IsJob(object) {
			err = rollout.Poll(ctx, u.timeout, func(line string) { u.source.ShowProgress("Waiting: " + line) },
				rollout.Job(u.hub, object.GetNamespace(), object.GetName()))
		}
	}
	if err == nil && len(u.hooks) > 0 {
		fmt.Fprintln(u.Out, "What Interlock wrote to the hub was removed.")
	}
	return errors.Join(err, u.deleteHooks(context.WithoutCancel(ctx), err == nil))
}

// deleteHooks deletes the rights of the Job, and the Job if it is not needed for its log.
func (u *uninstallation) deleteHooks(ctx context.Context, withJob bool) error {
	for _, object := range u.hooks {
		if rendering.IsJob(object) && !withJob {
			continue
		}
		err := u.hub.Delete(ctx, object.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("%s: %w", applyset.Describe(object), err)
		}
		// The same names are used again.
		if err := u.waitUntilGone(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

func (u *uninstallation) waitUntilGone(ctx context.Context, object *unstructured.Unstructured) error {
	return rollout.Poll(ctx, u.timeout, u.source.ShowProgress, func(ctx context.Context) (bool, string, error) {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(object.GroupVersionKind())
		err := u.hub.Get(ctx, client.ObjectKeyFromObject(object), live)
		return apierrors.IsNotFound(err), "Waiting until " + applyset.Describe(object) + " is deleted", client.IgnoreNotFound(err)
	})
}

// deleteMembers deletes the objects of the installation, and waits until they are gone.
func (u *uninstallation) deleteMembers(ctx context.Context) error {
	for i, member := range u.members {
		u.source.ShowProgress(fmt.Sprintf("Deleting objects: %d of %d", i, len(u.members)))
		if err := u.set.Delete(ctx, member); err != nil {
			return fmt.Errorf("%s: %w", member, err)
		}
	}
	return rollout.Poll(ctx, u.timeout, u.source.ShowProgress, func(ctx context.Context) (bool, string, error) {
		remaining, err := u.set.Members(ctx, u.record.Kinds)
		if err != nil || len(remaining) == 0 {
			return err == nil, "", err
		}
		return false, fmt.Sprintf("Waiting until %s are deleted, such as %s", text.Count(len(remaining), "object"), remaining[0]), nil
	})
}
