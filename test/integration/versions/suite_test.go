// Package versions tests, on real OCM, where addon-manager reads the version and the configuration of an add-on: on a managed cluster
// with addon-agent, as an add-on of OCM, and on a cluster without it.
package versions

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"

	"open-cluster-management.io/interlock/test/setup/addonagent"
	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv/ocm"
	"open-cluster-management.io/interlock/test/witness"
	"open-cluster-management.io/interlock/test/witness/suite"
)

const withAgent, withoutAgent = "cluster1", "cluster2"

var (
	hub     *ocm.Hub
	managed = map[string]*ocm.ManagedCluster{}
	// observer judges suite.Declared, because each step declares its changes.
	observer *witness.Witness
)

func TestVersions(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "versions and configuration on Open Cluster Management")
}

var _ = BeforeSuite(func(ctx context.Context) {
	options := ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true}
	hub = ocmsuite.Begin(ctx, time.Minute, options)
	join(ctx, withAgent, withoutAgent)
	observer = suite.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog}, suite.Declared)
	interlocked := interlock.DeployManager(ctx, hub)
	agents := addonagent.New(ctx, hub, managed[withAgent])
	manager := interlocked.Manage("--guard=policy", addonagent.GrantFlag)
	DeferCleanup(func() error { return manager.Kill() })
	observer.Cause("addon-agent is installed")
	agents.Deploy(ctx)
}, NodeTimeout(5*time.Minute))

// join has managed clusters join the hub.
func join(ctx context.Context, names ...string) {
	GinkgoHelper()
	members := make([]*ocm.ManagedCluster, len(names))
	var joins errgroup.Group
	for i, name := range names {
		joins.Go(func() (err error) {
			members[i], err = hub.Join(ctx, name, ocm.JoinOptions{WorkAgent: true})
			return err
		})
	}
	Expect(joins.Wait()).To(Succeed())
	for i, name := range names {
		managed[name] = members[i]
		ocmsuite.RunWorkloads(members[i])
	}
}

// onBoth returns the entries of a table whose specs run with addon-agent on the managed cluster, and without it.
func onBoth(within time.Duration) []TableEntry {
	return []TableEntry{
		Entry("with addon-agent", withAgent, NodeTimeout(within)),
		Entry("without addon-agent", withoutAgent, NodeTimeout(within)),
	}
}
