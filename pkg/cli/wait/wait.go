// Package wait is the verb of kubectl addon that waits until add-ons work, or are uninstalled.
package wait

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet/follow"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/text"
)

// forever is the time that a negative timeout stands for, as with kubectl wait.
const forever = 7 * 24 * time.Hour

type options struct {
	genericiooptions.IOStreams
	source  *source.Source
	timeout time.Duration
	// limit is the time that messages name instead of timeout, unless it is zero.
	limit  time.Duration
	target target
	// show prints a line for each change. It is nil if the output is no terminal.
	show func(line string)
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src}
	command := &cobra.Command{
		Use:   "wait [ADDON...]",
		Short: "Wait until add-ons work, or are gone",
		Long: `Wait until the dependencies of add-ons are satisfied and the add-ons are available,
on one managed cluster with -n, else on all. Without ADDON, it waits for all installed
add-ons. With ADDON and -n, it also waits until the add-on is installed.

It evaluates dependencies itself, as addon-manager does. So it does not miss a change that
addon-manager has not processed yet, as kubectl wait on the condition Degraded would. The
goals of --for are:
  satisfied  all dependencies are satisfied, and Degraded is not True because of one;
             Optional ones count only with --optional
  available  the condition Available is True
  gone       the add-on is not installed; cannot be combined with the others

It watches the hub. On a terminal, it prints a line for each change. When the time is over,
it exits with 1, and prints what is missing and what to run next.`,
		Example: `  # After an installation: until all add-ons work on cluster1
  kubectl addon wait -n cluster1

  # Until cluster-gateway works everywhere, for at most 15 minutes
  kubectl addon wait cluster-gateway -A --timeout 15m

  # Until its dependencies are satisfied, even if its own pods are not ready
  kubectl addon wait cluster-gateway -n cluster1 --for=satisfied

  # Until it is uninstalled
  kubectl addon wait cluster-gateway -n cluster1 --for=gone`,
		RunE: cmdline.RunE(o.complete, o.run),
	}
	flags := command.Flags()
	o.source.AddClusterFlags(command)
	flags.StringSliceVar(&o.target.goals, "for", []string{goalSatisfied, goalAvailable},
		"What to wait for: satisfied, available or gone. Can be repeated.")
	flags.BoolVar(&o.target.optional, "optional", false, "Also wait for Optional dependencies.")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "How long to wait. 0 checks once, a negative time waits for a week.")
	_ = command.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(goals, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return command
}

func (o *options) complete(args []string) error {
	o.target.addOns, o.target.cluster = args, o.source.Cluster()
	for _, goal := range o.target.goals {
		if !slices.Contains(goals, goal) {
			return fmt.Errorf("--for=%q: must be satisfied, available or gone", goal)
		}
	}
	removal := slices.Contains(o.target.goals, goalGone)
	switch {
	case len(o.target.goals) == 0:
		return errors.New("--for is empty: must be satisfied, available or gone")
	case o.target.optional && !slices.Contains(o.target.goals, goalSatisfied):
		return errors.New("--optional needs --for=satisfied")
	case removal && len(o.target.goals) > 1:
		return errors.New("--for=gone cannot be combined with another goal")
	case removal && len(args) == 0:
		return errors.New("--for=gone needs the name of an add-on")
	}
	if o.timeout < 0 {
		o.timeout = forever
	}
	if terminal.ScreenOf(o.Out).Width > 0 {
		o.show = func(line string) { fmt.Fprintln(o.Out, line) }
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	first, err := o.source.Snapshot(ctx, o.target.cluster)
	if err != nil {
		return err
	}
	if err := o.checkNames(first); err != nil { //nolint:contextcheck // a snapshot reads nothing that can be interrupted
		return err
	}
	current := measure(first, o.target) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
	if len(current.waiting) == 0 || o.timeout == 0 || o.source.IsFile() {
		return o.finish(&current)
	}
	hub, host, err := o.source.ConnectToWatch()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	current, err = o.wait(limited, hub, first)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err == nil && o.show != nil: // the last line says so
		current.printRemoving(o.Out)
		return nil
	case err == nil:
		return o.finish(&current)
	case !errors.Is(err, context.DeadlineExceeded):
		return source.HubError(err, host)
	}
	// The watched objects may be old, if the hub does not respond any more.
	last, err := o.source.Snapshot(ctx, o.target.cluster)
	if err != nil {
		return err
	}
	current = measure(last, o.target) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
	return o.finish(&current)
}

// checkNames returns an error for a managed cluster or an add-on that does not exist, because its name is probably wrong.
func (o *options) checkNames(hub *snapshot.Snapshot) error {
	cluster := o.target.cluster
	if cluster != "" && hub.Object(cluster) == nil && len(hub.Installed(cluster)) == 0 {
		return fmt.Errorf("no managed cluster %q on this hub: kubectl get managedclusters lists them", cluster)
	}
	if len(o.target.addOns) == 0 && measure(hub, o.target).addOns == 0 {
		return errors.New("no add-ons are installed: name those to wait for, with -n CLUSTER")
	}
	if slices.Contains(o.target.goals, goalGone) {
		return nil
	}
	for _, name := range o.target.addOns {
		if !slices.Contains(hub.Declared.AddOns(), name) && !slices.ContainsFunc(hub.AddOns, hasName(name)) {
			return fmt.Errorf("add-on %q is neither registered nor installed: kubectl get clustermanagementaddons lists the registered ones", name)
		}
	}
	return nil
}

// wait returns once the goals are reached, or with the error of the context or of a failed watch.
func (o *options) wait(ctx context.Context, hub client.WithWatch, first *snapshot.Snapshot) (progress, error) {
	watch, err := follow.Start(ctx, hub, follow.Lists(o.target.cluster, first), 0) // until its time is over
	if err != nil {
		return progress{}, err
	}
	shown := ""
	for {
		state, err := o.source.Retake(ctx, watch, o.target.cluster)
		if err != nil {
			return progress{}, err
		}
		current := measure(state, o.target) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
		if line := current.line(o.target); o.show != nil && line != shown {
			o.show(line)
			shown = line
		}
		if len(current.waiting) == 0 {
			return current, nil
		}
		if err := o.awaitChange(ctx, watch, current.nextExpiry); err != nil {
			return progress{}, err
		}
	}
}

// awaitChange waits for a change of a watched object, or until the deadline, unless it is zero.
func (o *options) awaitChange(ctx context.Context, watch *follow.Hub, deadline time.Time) error {
	if deadline.IsZero() {
		return watch.Next(ctx)
	}
	return watch.NextWithin(ctx, time.Until(deadline))
}

// finish prints the progress, and returns an error unless all goals are reached.
func (o *options) finish(last *progress) error {
	if len(last.waiting) == 0 {
		if line := last.line(o.target); o.show != nil {
			o.show(line)
		} else {
			fmt.Fprintln(o.Out, line)
		}
		last.printRemoving(o.Out)
		return nil
	}
	if err := last.printWaiting(o.Out, o.target, o.source); err != nil {
		return err
	}
	reached := fmt.Sprintf("%d of %s ok", last.okAddOns, text.Count(last.addOns, "add-on"))
	if slices.Contains(o.target.goals, goalGone) {
		reached = text.Count(len(last.waiting), "add-on") + " left"
	}
	switch {
	case o.source.IsFile():
		return fmt.Errorf("%s, and a file does not change", reached)
	case o.timeout == 0 && o.limit == 0:
		return errors.New(reached)
	default:
		return fmt.Errorf("timed out after %s: %s", cmp.Or(o.limit, o.timeout), reached)
	}
}
