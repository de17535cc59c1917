package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	fleetReportMethod = `A dependency is down on a third of the clusters, and addon-manager runs with --reports=unsatisfied. Once the ` +
		`AddOnFleetReport counts these clusters, kubectl addon why and status --summary run as processes, and read it. Just before, a ` +
		`second process only reads the registrations, the add-ons and the managed clusters, as the verbs do without the report.`
	fleetReportBound   = 1.0
	fleetReportTimeout = 5 * time.Minute
)

// fleetReport measures the verbs that read the report on the fleet.
func fleetReport(ctx context.Context, s *session, results *result.Scenario) (err error) {
	down := s.everyNth(thirds)
	if err := s.stopManager(ctx); err != nil {
		return err
	}
	if err := s.startManager(ctx, simulator.ManagerOptions{Name: "fleet-report", Reports: "unsatisfied"}); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.setAvailable(ctx, down, simulator.Root, true), s.settle(ctx, nil), s.stopManager(ctx),
			s.startManager(ctx, simulator.ManagerOptions{Name: "addon-manager"}))
	}()
	if err := errors.Join(s.setAvailable(ctx, down, simulator.Root, false), s.settle(ctx, down)); err != nil {
		return err
	}
	if err := s.awaitFleetReport(ctx, len(down)); err != nil {
		return err
	}
	user, err := s.fleet.Hub.User("fleet-report-reader")
	if err != nil {
		return err
	}
	for range s.repetitions {
		for _, verb := range []string{"why", "status --summary"} {
			list, err := s.pagedList(ctx)
			if err != nil {
				return err
			}
			took, peak, err := s.runPlugin(ctx, append(strings.Fields(verb), "--kubeconfig", user.Kubeconfig))
			if err != nil {
				return fmt.Errorf("kubectl addon %s: %w", verb, err)
			}
			results.Bound(verb+": time", "s", took.Seconds(), result.MedianAtMost, fleetReportBound)
			results.Measure(verb+": peak memory", "MiB", peak)
			results.Measure("paged list", "s", list.Seconds())
		}
	}
	return nil
}

// awaitFleetReport waits until the first root cause of the report on the fleet has a number of managed clusters.
func (s *session) awaitFleetReport(ctx context.Context, clusters int) error {
	report := &dependencyv1alpha1.AddOnFleetReport{}
	err := wait.PollUntilContextTimeout(ctx, time.Second, fleetReportTimeout, true, func(ctx context.Context) (bool, error) {
		err := s.fleet.Hub.Client.Get(ctx, client.ObjectKey{Name: dependencyv1alpha1.FleetReportName}, report)
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		return len(report.RootCauses) > 0 && int(report.RootCauses[0].Clusters) == clusters, nil
	})
	if err != nil {
		return fmt.Errorf("await an AddOnFleetReport about %d managed clusters, last %+v: %w", clusters, report.Summary, err)
	}
	return nil
}
