// Package protection shows, on a hub and two managed clusters of real OCM, that addon-manager webhook refuses the deletion of add-ons
// with installed dependents, and never blocks OCM and Kubernetes. One of the managed clusters has addon-agent, as an add-on of OCM.
// The other one does not.
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
	// deployment is the deployment of Interlock on the hub.
	deployment *interlock.Interlock
	webhook    *interlock.Running
	// managed has the clusters that have joined, by name.
	managed = map[string]*ocm.ManagedCluster{}
	// agents is the addon-agent of the cluster that has it.
	agents *addonagent.AddOn
)

func TestProtection(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "protection")
}

var _ = BeforeSuite(func(ctx context.Context) {
	hub = ocmsuite.Begin(ctx, time.Minute, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	join(ctx, withAgent, withoutAgent)
	deployment = interlock.Deploy(ctx, hub)
	serve(ctx, "--protection=enforce")
	DeferCleanup(func() error { return webhook.Kill() })
	agents = addonagent.New(ctx, hub, managed[withAgent])
	manager := deployment.Manage("--lifecycle", "--guard=policy", addonagent.GrantFlag)
	DeferCleanup(func() error { return manager.Kill() })
	agents.Deploy(ctx)
}, NodeTimeout(5*time.Minute))

// join has managed clusters join the hub.
func join(ctx context.Context, names ...string) {
	GinkgoHelper()
	clusters := make([]*ocm.ManagedCluster, len(names))
	var joins errgroup.Group
	for i, name := range names {
		joins.Go(func() (err error) {
			clusters[i], err = hub.Join(ctx, name, ocm.JoinOptions{WorkAgent: true})
			return err
		})
	}
	Expect(joins.Wait()).To(Succeed())
	for i, name := range names {
		managed[name] = clusters[i]
		ocmsuite.RunWorkloads(clusters[i])
	}
}

// deployWebhook deploys only the webhook on the hub, with protection enforced, until the caller ends.
func deployWebhook(ctx context.Context) {
	GinkgoHelper()
	deployment = interlock.DeployWebhook(ctx, hub)
	serve(ctx, "--protection=enforce")
	DeferCleanup(func() error { return webhook.Kill() })
}

// serve runs addon-manager webhook with the permissions of its account. It has the API server trust the webhook, as addon-manager
// would.
func serve(ctx context.Context, flags ...string) {
	GinkgoHelper()
	webhook = deployment.Serve(append(flags, "--lifecycle")...)
	deployment.Trust(ctx)
}
