package wait

import (
	"context"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/source"
)

// Until waits as the verb does, for verbs that change something.
type Until struct {
	genericiooptions.IOStreams
	Source *source.Source
	// AddOns are those to wait for, by managed cluster. They may not be installed yet.
	AddOns map[string][]string
	// Gone: until they are not installed. Else until their dependencies are satisfied and they are available.
	Gone bool
	// Timeout is how long; a negative time is a week. Limit is what the error names: Timeout may be what is left of it.
	Timeout, Limit time.Duration
	// Show is called with a line for each change; nil: only the last one is printed.
	Show func(line string)
}

// Wait returns once that is so. When the time is over, it prints what is missing and what to run next, and returns an error.
func (u Until) Wait(ctx context.Context) error {
	o := &options{
		IOStreams: u.IOStreams, source: u.Source, timeout: u.Timeout, limit: u.Limit, show: u.Show,
		target: target{goals: []string{satisfied, available}, only: u.AddOns},
	}
	if o.timeout < 0 {
		o.timeout = forever
	}
	if u.Gone {
		o.target.goals = []string{gone}
	}
	if len(u.AddOns) == 1 {
		for cluster := range u.AddOns {
			o.target.cluster = cluster
		}
	}
	return o.run(ctx)
}
