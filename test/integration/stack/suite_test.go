// Package stack shows, on a hub and three managed clusters of real OCM, that a stack of five add-ons is installed in the
// order of its dependencies, whatever fails meanwhile. Two of the managed clusters have addon-agent, as an add-on of OCM.
package stack

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/setup/addonagent"
	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// runs is how often the stack is installed. Each run has a seed of its own, from first on.
var (
	runs  = flag.Int("stack.runs", 2, "Runs of the stack, half of them by GitOps.")
	first = flag.Uint64("stack.seed", 1, "Seed of the first run.")
)

var clusters = []string{"cluster1", "cluster2", "cluster3"}

// agentClusters have addon-agent. One of them leaves in the end, as does the one without.
var agentClusters = clusters[:2]

var (
	hub      *ocm.Hub
	history  *ocmsuite.History
	managed  = map[string]*ocm.ManagedCluster{}
	deployed *interlock.Interlock
	managers []*interlock.Running
	webhook  *interlock.Running
	// agents are addon-agent on the clusters that have it.
	agents *addonagent.AddOn
	// plugin is kubectl-addon.
	plugin string
)

func TestStack(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "stack of add-ons")
}

var _ = BeforeSuite(func(ctx context.Context) {
	hub = ocmsuite.Begin(ctx, time.Minute, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	deployed, plugin = interlock.Deploy(ctx, hub), setup.Program("kubectl-addon")
	managers, webhook = []*interlock.Running{manage(), manage()}, deployed.Serve("--lifecycle")
	DeferCleanup(func() error { return errors.Join(managers[0].Kill(), managers[1].Kill(), webhook.Kill()) })
	join(ctx)
	var withAgent []*ocm.ManagedCluster
	for _, name := range agentClusters {
		withAgent = append(withAgent, managed[name])
	}
	agents = addonagent.New(ctx, hub, withAgent...)
	agents.Deploy(ctx)
	history = ocmsuite.Follow(hub)
	probe(ctx)
}, NodeTimeout(5*time.Minute))

// join has all managed clusters join the hub.
func join(ctx context.Context) {
	GinkgoHelper()
	joined := make([]*ocm.ManagedCluster, len(clusters))
	var joins errgroup.Group
	for i, name := range clusters {
		joins.Go(func() (err error) {
			joined[i], err = hub.Join(ctx, name, ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: 2 * time.Second, LeaseDurationSeconds: 2})
			return err
		})
	}
	Expect(joins.Wait()).To(Succeed())
	for i, name := range clusters {
		managed[name] = joined[i]
		ocmsuite.RunWorkloads(joined[i])
	}
}

// manage starts a replica that acts at once when it leads.
func manage() *interlock.Running {
	return deployed.Manage("--lifecycle", "--guard=policy", addonagent.GrantFlag)
}

// leader is the replica that leads, and says so by its first finding; -1: none does.
func leader() (int, error) {
	for i, replica := range managers {
		leads, err := replica.Printed("Gate rule is in force")
		if err != nil || leads {
			return i, err
		}
	}
	return -1, nil
}

func of(name string, run uint64) string { return fmt.Sprintf("%s-%d", name, run) }
