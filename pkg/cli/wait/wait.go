// Package wait is the verb of kubectl addon that waits until add-ons work, or are gone.
package wait

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/follow"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// forever is how long a negative timeout is: as with kubectl wait.
const forever = 7 * 24 * time.Hour

type options struct {
	genericiooptions.IOStreams
	source        *source.Source
	allNamespaces bool
	timeout       time.Duration
	// limit is what messages name, where the timeout is what is left of it; zero: the timeout.
	limit  time.Duration
	target target
	// show shows each change; nil: nothing does.
	show func(line string)
}

// NewCommand returns the verb.
func NewCommand(from *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: from}
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
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Wait for all managed clusters, which is the default without -n.")
	flags.StringSliceVar(&o.target.goals, "for", []string{satisfied, available}, "What to wait for: satisfied, available or gone. Can be repeated.")
	flags.BoolVar(&o.target.optional, "optional", false, "Also wait for Optional dependencies.")
	flags.DurationVar(&o.timeout, "timeout", 5*time.Minute, "How long to wait. 0 checks once, a negative time waits for a week.")
	_ = command.RegisterFlagCompletionFunc("for", cobra.FixedCompletions(goals, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return command
}

func (o *options) complete(args []string) error {
	o.target.addOns, o.target.cluster = args, o.source.Cluster(o.allNamespaces)
	for _, goal := range o.target.goals {
		if !slices.Contains(goals, goal) {
			return fmt.Errorf("--for=%q: must be satisfied, available or gone", goal)
		}
	}
	removal := slices.Contains(o.target.goals, gone)
	switch {
	case len(o.target.goals) == 0:
		return errors.New("--for is empty: must be satisfied, available or gone")
	case o.target.optional && !slices.Contains(o.target.goals, satisfied):
		return errors.New("--optional needs --for=satisfied")
	case removal && len(o.target.goals) > 1:
		return errors.New("--for=gone cannot be combined with another goal")
	case removal && len(args) == 0:
		return errors.New("--for=gone needs the name of an add-on")
	}
	if o.timeout < 0 {
		o.timeout = forever
	}
	if file, isFile := o.Out.(*os.File); isFile && term.IsTerminal(int(file.Fd())) {
		o.show = func(line string) { fmt.Fprintln(o.Out, line) }
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	first, err := o.source.Snapshot(ctx, o.target.cluster)
	if err != nil {
		return err
	}
	if err := o.exists(first); err != nil { //nolint:contextcheck // a snapshot reads nothing that can be interrupted
		return err
	}
	now := measure(first, o.target) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
	if len(now.waiting) == 0 || o.timeout == 0 || o.source.IsFile() {
		return o.finish(&now)
	}
	hub, host, err := o.source.ConnectToWatch()
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	now, err = o.wait(limited, hub, first)
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case err == nil && o.show != nil:
		return nil // the last line says so
	case err == nil:
		return o.finish(&now)
	case !errors.Is(err, context.DeadlineExceeded):
		return source.HubError(err, host)
	}
	// What was watched may be old, if the hub does not respond any more.
	last, err := o.source.Snapshot(ctx, o.target.cluster)
	if err != nil {
		return err
	}
	now = measure(last, o.target) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
	return o.finish(&now)
}

// exists returns an error for what cannot be waited for, because a name is wrong.
func (o *options) exists(of *snapshot.Snapshot) error {
	cluster := o.target.cluster
	if cluster != "" && of.Object(cluster) == nil && len(of.Installed(cluster)) == 0 {
		return fmt.Errorf("no managed cluster %q on this hub: kubectl get managedclusters lists them", cluster)
	}
	if len(o.target.addOns) == 0 && measure(of, o.target).addOns == 0 {
		return errors.New("no add-ons are installed: name those to wait for, with -n CLUSTER")
	}
	for _, name := range o.target.addOns {
		if !slices.Contains(o.target.goals, gone) && !slices.Contains(of.Declared.AddOns(), name) && !slices.ContainsFunc(of.AddOns, named(name)) {
			return fmt.Errorf("add-on %q is neither registered nor installed: kubectl get clustermanagementaddons lists the registered ones", name)
		}
	}
	return nil
}

// wait returns once the goals are reached, else with the error of the context or of a
// watch that has failed.
func (o *options) wait(ctx context.Context, hub client.WithWatch, first *snapshot.Snapshot) (now progress, err error) {
	watched, err := follow.Start(ctx, hub, follow.What(o.target.cluster, first), 0) // until its time is over
	if err != nil {
		return now, err
	}
	shown := ""
	for {
		current, err := snapshot.Take(ctx, watched, o.target.cluster)
		if err != nil {
			return now, err
		}
		now = measure(current, o.target) //nolint:contextcheck // a snapshot reads nothing that can be interrupted
		if line := now.line(o.target); o.show != nil && line != shown {
			o.show(line)
			shown = line
		}
		if len(now.waiting) == 0 {
			return now, nil
		}
		if err := o.next(ctx, watched, now.until); err != nil {
			return now, err
		}
	}
}

// next waits for a change, or until the moment, unless it is zero.
func (o *options) next(ctx context.Context, watched *follow.Hub, until time.Time) error {
	if until.IsZero() {
		return watched.Next(ctx)
	}
	waiting, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	if err := watched.Next(waiting); ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// finish prints how far it came, and returns an error unless that is far enough.
func (o *options) finish(now *progress) error {
	if len(now.waiting) == 0 {
		if line := now.line(o.target); o.show != nil {
			o.show(line)
		} else {
			fmt.Fprintln(o.Out, line)
		}
		return nil
	}
	if err := now.printWaiting(o.Out, o.target, o.source); err != nil {
		return err
	}
	reached := fmt.Sprintf("%d of %s ok", now.okAddOns, text.Count(now.addOns, "add-on"))
	if slices.Contains(o.target.goals, gone) {
		reached = text.Count(len(now.waiting), "add-on") + " left"
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
