package simulator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"open-cluster-management.io/interlock/pkg/agent"
)

// AgentUser is the user of all agents of a fleet. To the API
// server each of them is a user of its own.
const AgentUser = "addon-agents"

// leaseGrace spares the simulation to renew leases all the time: none of them
// grows old by itself.
const leaseGrace = 12 * time.Hour

// Agents are the agents of clusters: the real one's code, once for each, in
// this process. Only the leases that they watch are in memory.
type Agents struct {
	// Leases are the leases on each cluster.
	Leases map[string]*Leases

	stop    context.CancelFunc
	running *errgroup.Group
}

// StartAgents starts an agent for each cluster of the fleet.
func (f *Fleet) StartAgents(ctx context.Context) (*Agents, error) {
	user, err := f.Hub.User(AgentUser)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	agents := &Agents{Leases: make(map[string]*Leases, len(f.Clusters)), stop: cancel}
	agents.running, ctx = errgroup.WithContext(ctx)
	for _, cluster := range f.Clusters {
		agents.Leases[cluster] = NewLeases(f.AddOns)
		config := agentConfig(user.Config, cluster)
		manager, err := agent.NewManager(agent.Clusters{
			// No edge here refers to a managed cluster: only leases are read there.
			Hub: config, Managed: config, Leases: agents.Leases[cluster],
		}, agent.Options{
			Cluster: cluster, GracePeriod: leaseGrace, MetricsAddress: "0", HealthAddress: "0",
			Registry: prometheus.NewRegistry(), Unnamed: true,
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start the agent of %s: %w", cluster, err), agents.Stop())
		}
		agents.running.Go(func() error { return manager.Start(ctx) })
	}
	return agents, nil
}

// agentConfig makes the agent a user of its own, as it is on a real hub: to the
// API server's fairness a thousand agents are a thousand flows.
func agentConfig(config *rest.Config, cluster string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:open-cluster-management:" + cluster + ":addon-agent",
		Groups:   []string{measuredGroup},
	}
	return config
}

// Stop ends all agents and returns when they have ended.
func (a *Agents) Stop() error {
	a.stop()
	return a.running.Wait()
}
