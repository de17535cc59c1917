// Package protection shows, on a hub and two managed clusters of real OCM, what addon-manager webhook refuses when
// an add-on is deleted that installed add-ons require, and that it never is in the way of OCM and Kubernetes. One of the managed
// clusters has addon-agent, as an add-on of OCM; the other one does not.
package protection

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
)

var (
	hub *ocm.Hub
	// deployed is Interlock on the hub.
	deployed *interlock.Interlock
	webhook  *interlock.Running
	// managed are the clusters that have joined.
	managed = map[string]*ocm.ManagedCluster{}
	// agents are addon-agent on the cluster that has it.
	agents *addonagent.AddOn
)

func TestProtection(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "protection")
}

var _ = BeforeSuite(func(ctx context.Context) {
	hub = ocmsuite.Begin(ctx, time.Minute, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	join(ctx, withAgent, withoutAgent)
	deployed = interlock.Deploy(ctx, hub)
	serve(ctx, "--protection=enforce")
	DeferCleanup(func() error { return webhook.Kill() })
	agents = addonagent.New(ctx, hub, managed[withAgent])
	manager := deployed.Manage("--lifecycle", "--guard=policy", addonagent.GrantFlag)
	DeferCleanup(func() error { return manager.Kill() })
	agents.Deploy(ctx)
}, NodeTimeout(5*time.Minute))

// join has managed clusters join the hub.
func join(ctx context.Context, names ...string) {
	GinkgoHelper()
	joined := make([]*ocm.ManagedCluster, len(names))
	var joins errgroup.Group
	for i, name := range names {
		joins.Go(func() (err error) {
			joined[i], err = hub.Join(ctx, name, ocm.JoinOptions{WorkAgent: true})
			return err
		})
	}
	Expect(joins.Wait()).To(Succeed())
	for i, name := range names {
		managed[name] = joined[i]
		ocmsuite.RunWorkloads(joined[i])
	}
}

// deployWebhook deploys the webhook alone on the hub, where it refuses, and runs until the caller ends.
func deployWebhook(ctx context.Context) {
	GinkgoHelper()
	deployed = interlock.DeployWebhook(ctx, hub)
	serve(ctx, "--protection=enforce")
	DeferCleanup(func() error { return webhook.Kill() })
}

// serve runs addon-manager webhook with its account's rights, and has the API server trust it, as addon-manager would.
func serve(ctx context.Context, flags ...string) {
	GinkgoHelper()
	webhook = deployed.Serve(append(flags, "--lifecycle")...)
	deployed.Trust(ctx)
}
