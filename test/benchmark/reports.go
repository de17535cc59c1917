package main

import (
	"context"
	"errors"
	"time"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	reportsMethod = `A dependency fails on all clusters at once, and recovers, as in 1. This alternates between an addon-manager ` +
		`without reports, with --reports=unsatisfied, and with --reports=all. The time until all conditions are right is ` +
		`compared with that without reports. The API server counts the requests for reports.`
	reportsBound    = 1.5
	reportsResource = "addondependencyreports"
)

func reports(ctx context.Context, s *session, results *result.Scenario) (err error) {
	if err := s.stopManager(ctx); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, s.startManager(ctx, simulator.ManagerOptions{Name: "addon-manager"}))
	}()
	for range s.repetitions {
		off := 0.0
		for _, scope := range []string{"off", "unsatisfied", "all"} {
			took, requests, err := s.reportStorm(ctx, scope)
			if err != nil {
				return err
			}
			results.Measure("time with --reports="+scope, "s", took.Seconds())
			if scope == "off" {
				off = took.Seconds()
				results.Bound("requests for reports with --reports=off", "", float64(requests), result.NeverAbove, 0)
				continue
			}
			results.Bound("time with --reports="+scope+", relative to off", "×", took.Seconds()/off, result.MedianAtMost, reportsBound)
			results.Measure("requests for reports with --reports="+scope, "", float64(requests))
		}
	}
	return nil
}

// reportStorm runs its own addon-manager. It returns the time until all conditions were right, for both changes
// together, and the requests for reports.
func (s *session) reportStorm(ctx context.Context, scope string) (time.Duration, int, error) {
	var took time.Duration
	if err := s.startManager(ctx, simulator.ManagerOptions{Name: "reports-" + scope, Reports: scope}); err != nil {
		return 0, 0, err
	}
	counts, err := s.fleet.Hub.Requests.During(func() error {
		for _, up := range []bool{false, true} {
			expected, writes := s.outageExpected(s.fleet.Clusters, up)
			comparison, err := s.await(ctx, writes, storm{expected: expected, begin: func() error {
				return s.setAvailable(ctx, s.fleet.Clusters, simulator.Root, up)
			}})
			if err != nil {
				return err
			}
			took += comparison.storm
		}
		return s.settleDown(ctx)
	})
	if err != nil {
		return 0, 0, err
	}
	requests := counts.Reads(simulator.ManagerUser, reportsResource) + counts.Writes(simulator.ManagerUser, reportsResource)
	return took, requests, s.stopManager(ctx)
}
