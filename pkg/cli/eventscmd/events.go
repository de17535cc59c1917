// Package eventscmd is the verb of kubectl addon that shows the events and conditions of an add-on and of its dependencies, in order of
// time.
package eventscmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/table"
	"open-cluster-management.io/interlock/pkg/fleet/follow"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/report"
)

var heading = []string{"TIME", "CLUSTER", "ADD-ON", "TYPE", "REASON", "MESSAGE"}

type options struct {
	genericiooptions.IOStreams
	source *source.Source
	flags  *output.Flags
	watch  bool
	types  []string
	filter report.Filter

	table *table.Table
	// printed are the items that a watch has printed.
	printed map[report.TimelineItem]bool
}

// NewCommand returns the verb.
func NewCommand(src *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	o := &options{IOStreams: streams, source: src, flags: output.NewFlags(output.Wide), printed: map[report.TimelineItem]bool{}}
	command := &cobra.Command{
		Use:   "events [ADDON]",
		Short: "Show the events and conditions of an add-on and its dependencies",
		Long: `Show the events of an add-on and of all its dependencies, direct and indirect, in order
of time. The last transition of each Available and Degraded is shown too, but not the event
that reports it. Without ADDON, it shows all add-ons.

[root cause] marks the warnings of the add-on that now keeps the others from working.
Times are in UTC.

By default, Kubernetes keeps events for an hour. Without the right to list events, only the
conditions are shown, with a note on standard error.`,
		Example: `  # Of cluster-gateway on cluster1
  kubectl addon events cluster-gateway -n cluster1

  # All warnings in the fleet, and new ones as they come
  kubectl addon events --types=Warning -w`,
		Args: cobra.MaximumNArgs(1),
		RunE: cmdline.RunE(o.complete, o.run),
	}
	flags := command.Flags()
	o.source.AddClusterFlags(command)
	flags.BoolVarP(&o.watch, "watch", "w", false, "After that, show new events and transitions, until interrupted.")
	flags.StringSliceVar(&o.types, "types", nil, "Show these types only: Normal, Warning.")
	_ = command.RegisterFlagCompletionFunc("types", cobra.FixedCompletions(types, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	o.flags.AddTo(command)
	return command
}

func (o *options) complete(args []string) error {
	var err error
	if o.filter.AddOn, err = source.AddOn(args); err != nil {
		return err
	}
	o.filter.Cluster = o.source.Cluster()
	for i, value := range o.types {
		index := slices.IndexFunc(types, func(eventType string) bool { return strings.EqualFold(eventType, value) })
		if index < 0 {
			return fmt.Errorf("--types=%q: must be Normal or Warning", value)
		}
		o.types[i] = types[index]
	}
	if o.watch && o.source.IsFile() {
		return errors.New("--watch needs a hub: a file does not change")
	}
	if err := o.flags.Validate(); err != nil {
		return err
	}
	o.table = o.flags.Table(o.Out, heading)
	o.table.Spare = o.spareColumns()
	if o.watch && o.flags.IsData() {
		return errors.New("--watch prints a table: it cannot be combined with --output")
	}
	return nil
}

func (o *options) run(ctx context.Context) error {
	first, err := o.source.Snapshot(ctx, o.filter.Cluster)
	if err != nil {
		return err
	}
	if err := o.checkName(first); err != nil {
		return err
	}
	var events []eventsv1.Event
	readable := lists(o.filter.Cluster)
	if o.source.IsFile() {
		fmt.Fprintln(o.ErrOut, "A file has no events: only conditions are shown.")
	} else if events, readable, err = o.readFirst(ctx, readable); err != nil {
		return err
	}
	if err := o.print(first, events); err != nil || !o.watch {
		return err
	}
	hub, host, err := o.source.ConnectToWatch()
	if err != nil {
		return err
	}
	if err := o.follow(ctx, hub, append(follow.Lists(o.filter.Cluster, first), readable...)); err != nil && ctx.Err() == nil {
		return source.HubError(err, host)
	}
	return nil
}

// checkName returns an error for a wrong name, because an empty table would be misleading.
func (o *options) checkName(hub *snapshot.Snapshot) error {
	if o.filter.AddOn == "" || slices.Contains(hub.Declared.AddOns(), o.filter.AddOn) {
		return nil
	}
	return source.CheckInstalled(hub, o.filter.AddOn, o.filter.Cluster)
}

// readFirst reads the events. It also returns the lists that the user may read.
func (o *options) readFirst(ctx context.Context, lists []follow.Watched) ([]eventsv1.Event, []follow.Watched, error) {
	hub, host, err := o.source.Connect()
	if err != nil {
		return nil, nil, err
	}
	var events []eventsv1.Event
	var readable []follow.Watched
	for _, list := range lists {
		listed, err := read(ctx, hub, []follow.Watched{list})
		switch {
		case apierrors.IsForbidden(err):
			fmt.Fprintf(o.ErrOut, "Some events are missing: %v. docs/kubectl-addon.md lists the rights that the plugin needs.\n", err)
		case err != nil:
			return nil, nil, source.HubError(err, host)
		default:
			events, readable = append(events, listed...), append(readable, list)
		}
	}
	return events, readable, nil
}

// print prints the timeline. A watch prints only the items that it has not printed yet.
func (o *options) print(hub *snapshot.Snapshot, events []eventsv1.Event) error {
	if o.source.Selection() != "" {
		events = onClusters(hub, events)
	}
	timeline := report.FindTimeline(hub, events, o.filter, o.types...)
	return o.flags.Print(o.Out, timeline, func() error {
		var rows [][]string
		for _, item := range timeline.Items {
			if o.watch && !o.isNew(item) {
				continue
			}
			rows = append(rows, row(item))
		}
		if len(rows) > 0 {
			return o.table.Print(rows)
		}
		if len(timeline.Items) == 0 && !o.watch {
			fmt.Fprintln(o.ErrOut, "No events, and no conditions that have changed.")
		}
		return nil
	})
}

// onClusters returns the events about registrations, and about add-ons on the managed clusters of a snapshot.
func onClusters(hub *snapshot.Snapshot, events []eventsv1.Event) []eventsv1.Event {
	return slices.DeleteFunc(slices.Clone(events), func(event eventsv1.Event) bool {
		return event.Regarding.Namespace != "" && hub.Object(event.Regarding.Namespace) == nil
	})
}

// isNew reports whether an item was not printed yet, and remembers it.
func (o *options) isNew(item report.TimelineItem) bool {
	item.RootCause = false // RootCause of a printed item can change.
	if o.printed[item] {
		return false
	}
	o.printed[item] = true
	return true
}

// spareColumns returns columns for which a narrow terminal has no room. Messages matter more.
func (o *options) spareColumns() []string {
	if o.filter.Cluster != "" {
		return []string{"CLUSTER", "TYPE", "REASON"}
	}
	return []string{"TYPE", "REASON"}
}

func row(item report.TimelineItem) []string {
	message := item.Message
	if item.Count > 1 {
		message = fmt.Sprintf("(%d times) %s", item.Count, message)
	}
	if item.RootCause {
		message = "[root cause] " + message
	}
	return []string{item.Time.Format(time.RFC3339), item.Cluster, item.AddOn, item.Type, item.Reason, message}
}

// follow prints new items until the context ends.
func (o *options) follow(ctx context.Context, hub client.WithWatch, lists []follow.Watched) error {
	watch, err := follow.Start(ctx, hub, lists, follow.Failures)
	if err != nil {
		return err
	}
	eventLists := slices.DeleteFunc(slices.Clone(lists), func(list follow.Watched) bool {
		_, listsEvents := list.List.(*eventsv1.EventList)
		return !listsEvents
	})
	for {
		current, err := o.source.Retake(ctx, watch, o.filter.Cluster)
		if err != nil {
			return err
		}
		events, err := read(ctx, watch, eventLists)
		if err != nil {
			return err
		}
		if err := o.print(current, events); err != nil {
			return err
		}
		if err := watch.Next(ctx); err != nil {
			return err
		}
	}
}
