package source

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
)

// Live is the description of the flag --live.
const Live = "Evaluate all managed clusters now, and do not use the AddOnFleetReport of addon-manager."

// FleetReport returns the report on the fleet that addon-manager keeps on the hub. It is nil if the hub has no report, if the user may not
// read it, or if no addon-manager keeps it current.
func (s *Source) FleetReport(ctx context.Context) (*report.FleetReport, error) {
	hub, host, err := s.Connect()
	if err != nil {
		return nil, err
	}
	stored := &report.FleetReport{}
	switch err := hub.Get(ctx, types.NamespacedName{Name: dependencyv1alpha1.FleetReportName}, stored); {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, HubError(err, host)
	}
	if snapshot.Leaderless(ctx, hub, time.Now()) {
		if s.ErrOut != nil {
			fmt.Fprintln(s.ErrOut, "No addon-manager leads, so the AddOnFleetReport may be out of date. All managed clusters are read instead.")
		}
		return nil, nil
	}
	return stored, nil
}

// Examples reads the objects of a few managed clusters that next steps depend on.
func (s *Source) Examples(ctx context.Context, clusters []string) (*snapshot.Snapshot, error) {
	hub, host, err := s.Connect()
	if err != nil {
		return nil, err
	}
	examples, err := snapshot.Examples(ctx, hub, clusters)
	return examples, HubError(err, host)
}

// Age returns the text about the age of a report on the fleet. The command reads all managed clusters instead.
func Age(stored *report.FleetReport, now time.Time, command string) string {
	observed := stored.Observed.UTC()
	return fmt.Sprintf("As addon-manager observed it %s ago (%s), unchanged since then. To evaluate all managed clusters now: %s",
		duration.HumanDuration(max(0, now.Sub(observed))), observed.Format("2006-01-02 15:04:05 MST"), command)
}
