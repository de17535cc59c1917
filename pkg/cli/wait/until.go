package wait

import (
	"context"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/source"
)

// Waiter waits as the verb does, for verbs that change something.
type Waiter struct {
	genericiooptions.IOStreams
	Source *source.Source
	// AddOns are the add-ons to wait for, by managed cluster. They may not be installed yet.
	AddOns map[string][]string
	// Removal is whether to wait until the add-ons are not installed. If not, Waiter waits until their dependencies are satisfied and
	// they are available.
	Removal bool
	// Timeout is how long to wait. A negative time is a week.
	Timeout time.Duration
	// Limit is the time that the error names instead of Timeout, if a part of it has passed already.
	Limit time.Duration
	// Show prints a line for each change. Without it, only the last line is printed.
	Show func(line string)
}

// Wait returns once the goal is reached. When the time is over, it prints the add-ons that have not reached it and the command to
// run next, and returns an error.
func (w Waiter) Wait(ctx context.Context) error {
	o := &options{
		IOStreams: w.IOStreams, source: w.Source, timeout: w.Timeout, limit: w.Limit, show: w.Show,
		target: target{goals: []string{goalSatisfied, goalAvailable}, addOnsByCluster: w.AddOns},
	}
	if o.timeout < 0 {
		o.timeout = forever
	}
	if w.Removal {
		o.target.goals = []string{goalGone}
	}
	if len(w.AddOns) == 1 {
		for cluster := range w.AddOns {
			o.target.cluster = cluster
		}
	}
	return o.run(ctx)
}
