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

// runs is how often the stack is installed. Each run has a seed of its own, beginning with firstSeed.
var (
	runs      = flag.Int("stack.runs", 2, "Runs of the stack, half of them by GitOps.")
	firstSeed = flag.Uint64("stack.seed", 1, "Seed of the first run.")
)

var clusters = []string{"cluster1", "cluster2", "cluster3"}

// agentClusters have addon-agent. One of them leaves in the end, and so does the cluster without addon-agent.
var agentClusters = clusters[:2]

var (
	hub        *ocm.Hub
	history    *ocmsuite.History
	managed    = map[string]*ocm.ManagedCluster{}
	deployment *interlock.Interlock
	managers   []*interlock.Running
	webhook    *interlock.Running
	// agents is the addon-agent of the clusters that have it.
	agents *addonagent.AddOn
	// plugin is the path of kubectl-addon.
	plugin string
)

func TestStack(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "stack of add-ons")
}

var _ = BeforeSuite(func(ctx context.Context) {
	hub = ocmsuite.Begin(ctx, time.Minute, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	deployment, plugin = interlock.Deploy(ctx, hub), setup.Program("kubectl-addon")
	managers, webhook = []*interlock.Running{manage(), manage()}, deployment.Serve("--lifecycle")
	DeferCleanup(func() error { return errors.Join(managers[0].Kill(), managers[1].Kill(), webhook.Kill()) })
	join(ctx, clusters...)
	var withAgent []*ocm.ManagedCluster
	for _, name := range agentClusters {
		withAgent = append(withAgent, managed[name])
	}
	agents = addonagent.New(ctx, hub, withAgent...)
	agents.Deploy(ctx)
	history = ocmsuite.Follow(hub)
	probe(ctx)
}, NodeTimeout(5*time.Minute))

// join has managed clusters join the hub.
func join(ctx context.Context, names ...string) {
	GinkgoHelper()
	members := make([]*ocm.ManagedCluster, len(names))
	var joins errgroup.Group
	for i, name := range names {
		joins.Go(func() (err error) {
			members[i], err = hub.Join(ctx, name, ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: 2 * time.Second, LeaseDurationSeconds: 2})
			return err
		})
	}
	Expect(joins.Wait()).To(Succeed())
	for i, name := range names {
		managed[name] = members[i]
		ocmsuite.RunWorkloads(members[i])
	}
}

// manage starts a replica that acts as soon as it leads.
func manage() *interlock.Running {
	return deployment.Manage("--lifecycle", "--guard=policy", addonagent.GrantFlag)
}

// leader returns the index of the replica that reports findings and so leads. It is -1 if no replica leads.
func leader() (int, error) {
	for i, replica := range managers {
		leads, err := replica.Printed("Gate rule is in force")
		if err != nil || leads {
			return i, err
		}
	}
	return -1, nil
}

func runName(name string, run uint64) string { return fmt.Sprintf("%s-%d", name, run) }
