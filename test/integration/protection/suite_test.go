// Package protection shows, on a hub and a managed cluster of real OCM, what addon-manager webhook refuses when
// an add-on is deleted that installed add-ons require, and that it never is in the way of OCM and Kubernetes.
package protection

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

var (
	hub *ocm.Hub
	// deployed is the webhook on the hub.
	deployed *interlock.Interlock
	webhook  *interlock.Running
)

func TestProtection(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "protection")
}

var _ = BeforeSuite(func(ctx context.Context) {
	hub = ocmsuite.Begin(ctx, time.Minute, ocm.HubOptions{InterlockCRDs: true})
	_, err := hub.Join(ctx, cluster, ocm.JoinOptions{})
	Expect(err).NotTo(HaveOccurred())
	deploy(ctx)
}, NodeTimeout(5*time.Minute))

// deploy deploys the webhook on the hub, where it refuses, and runs until the suite ends.
func deploy(ctx context.Context) {
	GinkgoHelper()
	deployed = interlock.DeployWebhook(ctx, hub)
	serve(ctx, "--protection=enforce")
	DeferCleanup(func() error { return webhook.Kill() })
}

// serve runs addon-manager webhook with its account's rights, and has the API server trust it, as addon-manager would.
func serve(ctx context.Context, flags ...string) {
	GinkgoHelper()
	webhook = deployed.Serve(flags...)
	deployed.Trust(ctx)
}
