package source

import (
	"context"
	"fmt"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// withoutInterlock is the note about a hub on which Interlock is not installed.
const withoutInterlock = "Interlock is not installed on this hub, so the plugin evaluates dependencies itself. Not known: since when they " +
	"fail, which APIs managed clusters serve, and versions that only an agent reports."

// Notes returns sentences about what is not known of a fleet.
func Notes(fleetState *snapshot.Snapshot) []string {
	var notes []string
	if fleetState.WithoutInterlock {
		notes = append(notes, withoutInterlock)
	}
	if fleetState.PoliciesUnread != "" {
		notes = append(notes, fmt.Sprintf("AddOnDependencyPolicies are left out, so dependencies that they override are shown as declared: %s; %s",
			text.OneLine(fleetState.PoliciesUnread), askForRight))
	}
	if fleetState.OCMVersionUnread != "" {
		notes = append(notes, fmt.Sprintf("The version of Open Cluster Management is not known: %s; %s",
			text.OneLine(fleetState.OCMVersionUnread), askForRight))
	}
	return notes
}

// printNotes prints what is not known of a fleet.
func (s *Source) printNotes(fleetState *snapshot.Snapshot) {
	if s.ErrOut == nil {
		return
	}
	for _, note := range Notes(fleetState) {
		fmt.Fprintln(s.ErrOut, note)
	}
}

// WithoutInterlock reports whether the hub does not serve any API of Interlock. It returns false if that cannot be read.
func (s *Source) WithoutInterlock(ctx context.Context) bool {
	hub, _, err := s.dial(timeout, fleet.SkipUnread)
	if err != nil {
		return false
	}
	api, err := hub.Discovery()
	return err == nil && snapshot.WithoutInterlock(ctx, api)
}
