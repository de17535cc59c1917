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

// AgentUser is the shared user of all agents of a fleet. They impersonate different users for the API server.
const AgentUser = "addon-agents"

// leaseGrace is too long for a lease to expire by itself. So the simulation does not have to renew leases.
const leaseGrace = 12 * time.Hour

// Agents are the agents of clusters: the code of the real agent, once for each cluster, in this process. Only the
// leases that they watch are in memory.
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
			// No edge here refers to a managed cluster, so the agent reads only leases there.
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

// agentConfig gives the agent its own user, like on a real hub. To the API server's fairness a thousand agents are a
// thousand flows.
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
