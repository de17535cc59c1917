package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	agentMethod = `The addon-agent of one cluster with 20 add-ons runs as a process. The hub and the managed cluster are real API ` +
		`servers. Leases that expired long ago are renewed, and then expire again (grace period 2 s). The time ends when a ` +
		`watch of the hub has delivered Available. OCM's own agent polls, and takes 15 s on average. The bound for a renewal is ` +
		`a fiftieth of that.`
	agentAddOns    = 20
	agentGrace     = 2 * time.Second
	agentMemory    = 40.0
	renewedBoundMS = 15_000.0 / 50
	expiredBoundMS = 1000.0
	leasesEach     = 4
	agentLull      = 5 * time.Second
)

func agentProcess(ctx context.Context, s *session, results *result.Scenario) (err error) {
	dir := filepath.Join(s.dir, "agent")
	if err := makeFolder(dir); err != nil {
		return err
	}
	site, err := simulator.StartSite(ctx, dir, simulator.AddOns(agentAddOns, s.seed))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.Stop(ctx)) }()
	if err := site.StartAgent(filepath.Join(s.bin, "addon-agent"), agentGrace); err != nil {
		return err
	}
	for range s.repetitions {
		if err := leasesOnce(ctx, site, results); err != nil {
			return err
		}
	}
	if err := pause(ctx, agentLull); err != nil {
		return err
	}
	usage, err := simulator.UsageOf(site.Agent.PID())
	if err != nil {
		return err
	}
	results.Bound(fmt.Sprintf("resident memory with %d add-ons", agentAddOns), "MiB", usage.RSS, result.NeverAbove, agentMemory)
	results.Measure("peak memory", "MiB", usage.Peak)
	return nil
}

// leasesOnce renews one lease after the other, and lets each expire.
func leasesOnce(ctx context.Context, site *simulator.Site, results *result.Scenario) error {
	var renewals []float64
	for i := range leasesEach {
		name := site.AddOns[i%len(site.AddOns)].Name
		key := simulator.KeysOn([]string{site.Cluster}, name)[0]
		unavailable := simulator.Expectation{key: simulator.AvailableIs("False")}
		if _, err := site.Observer.Await(ctx, unavailable, time.Minute); err != nil {
			return err
		}
		started := time.Now()
		if err := site.Renew(ctx, name, started); err != nil {
			return err
		}
		up, err := site.Observer.Await(ctx, simulator.Expectation{key: simulator.AvailableIs("True")}, time.Minute)
		if err != nil {
			return err
		}
		renewals = append(renewals, 1000*up.Sub(started).Seconds())
		expired, err := site.Observer.Await(ctx, simulator.Expectation{key: simulator.AvailableIs("False")}, time.Minute)
		if err != nil {
			return err
		}
		results.Bound("lease expired: time from the grace's end to Available=False", "ms",
			1000*expired.Sub(started.Add(agentGrace)).Seconds(), result.NeverAbove, expiredBoundMS)
	}
	sum := 0.0
	for _, took := range renewals {
		sum += took
	}
	results.Bound("lease renewed: mean time to Available=True", "ms", sum/float64(len(renewals)), result.MedianAtMost, renewedBoundMS)
	return nil
}
