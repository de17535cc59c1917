// Package order shows, on a hub and a managed cluster of real OCM, that the installation of an add-on waits for its
// dependencies where it declares ordering: Install, with the gate rule in each of its forms.
package order

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

var (
	hub     *ocm.Hub
	history *ocmsuite.History
	// interlocked is Interlock on the hub.
	interlocked      *interlock.Interlock
	manager, webhook *interlock.Running
)

func TestOrder(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "order of installations")
}

var _ = BeforeSuite(func(ctx context.Context) {
	hub = ocmsuite.Begin(ctx, 30*time.Second, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	interlocked = interlock.Deploy(ctx, hub)
	serve("--lifecycle")
	DeferCleanup(func() error {
		var failed error
		if manager != nil {
			failed = manager.Kill()
		}
		return errors.Join(failed, webhook.Kill())
	})
	managed, err := hub.Join(ctx, cluster, ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: 2 * time.Second})
	Expect(err).NotTo(HaveOccurred())
	ocmsuite.RunWorkloads(managed)
	history = ocmsuite.Follow(hub)
	// An add-on of any kind, with which the form of the gate rule is probed.
	register(ctx, "probed", "", false)
	install(ctx, "probed")
}, NodeTimeout(5*time.Minute))

// lifecycleOn runs both with the lifecycle on, whatever the specs before have left.
func lifecycleOn(ctx context.Context) {
	GinkgoHelper()
	Expect(webhook.Stop(ctx)).To(Succeed())
	serve("--lifecycle")
	manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
}

// serve runs addon-manager webhook.
func serve(flags ...string) {
	GinkgoHelper()
	webhook = interlocked.Serve(flags...)
}

// manage runs addon-manager, and waits until its log has a text.
func manage(ctx context.Context, until string, flags ...string) {
	GinkgoHelper()
	if manager != nil {
		Expect(manager.Stop(ctx)).To(Succeed())
	}
	manager = interlocked.Manage(flags...)
	Eventually(manager.Printed).WithContext(ctx).WithArguments(until).Should(BeTrue())
}
