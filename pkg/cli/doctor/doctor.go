// Package doctor is the verb of kubectl addon that checks Interlock itself.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// ErrUnwell is returned when a check fails.
var ErrUnwell = errors.New("a check failed")

// result is what a check found.
type result struct {
	mark   mark
	found  string
	repair string // what to do; empty where nothing is to be done
}

type mark string

const (
	well    mark = "✔"
	unwell  mark = "✖"
	unknown mark = "?"
	note    mark = "-" // no failure: a setting, or a state
)

// hub is what the checks read.
type hub struct {
	client.Reader
	fleet     *snapshot.Snapshot
	namespace string // of Interlock
	now       time.Time
	source    *source.Source
}

// NewCommand returns the verb.
func NewCommand(from *source.Source, streams genericiooptions.IOStreams) *cobra.Command {
	namespace := "interlock-system"
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether Interlock itself works",
		Long: `Check Interlock on a hub: its pods, its leader, its webhook, the guard, the graft,
addon-agent on the managed clusters, and the declarations of add-ons. The line below a
failed check shows how to repair it.

It exits with 1 when a check fails. "?" marks a check that you have no right to make.`,
		Example: `  kubectl addon doctor

  # Installed in another namespace
  kubectl addon doctor --interlock-namespace interlock`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if from.IsFile() {
				return cmdline.UsageError(errors.New("--from: doctor needs a hub"))
			}
			ctx := command.Context()
			fleet, err := from.Snapshot(ctx, "")
			if err != nil {
				return err
			}
			reader, _, err := from.Connect()
			if err != nil {
				return err
			}
			return examine(ctx, &hub{Reader: reader, fleet: fleet, namespace: namespace, now: time.Now(), source: from}, streams)
		},
	}
	command.Flags().StringVar(&namespace, "interlock-namespace", namespace, "The namespace that Interlock is installed in.")
	return command
}

var checks = []func(context.Context, *hub) []result{
	openClusterManagement, addonManager, leader, webhook, guarded, grafted, agents, declarations, lostClusters, offlinePolicy,
}

func examine(ctx context.Context, on *hub, streams genericiooptions.IOStreams) error {
	var failed error
	note := ""
	for _, check := range checks {
		for _, found := range check(ctx, on) {
			fmt.Fprintf(streams.Out, "%s %s\n", found.mark, text.OneLine(found.found))
			if found.repair != "" {
				fmt.Fprintf(streams.Out, "  → %s\n", on.source.Command(found.repair))
			}
			note = cmp.Or(note, on.source.Note(found.repair))
			if found.mark == unwell {
				failed = ErrUnwell
			}
		}
	}
	if note != "" {
		fmt.Fprintln(streams.Out, note)
	}
	return failed
}

// unread is the result of a check that could not read what it needs.
func unread(what string, err error) []result {
	return []result{{unknown, fmt.Sprintf("%s cannot be read: %v", what, err), ""}}
}
