// Package order shows, on a hub and two managed clusters of real OCM, that the installation of an add-on waits for its
// dependencies where it declares ordering: Install, with the gate rule in each of its forms. One of the managed clusters has
// addon-agent, as an add-on of OCM; the other one does not.
package order

import (
	"context"
	"errors"
	"os/exec"
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
	hub     *ocm.Hub
	history *ocmsuite.History
	// interlocked is Interlock on the hub.
	interlocked *interlock.Interlock
	// agents are addon-agent on the clusters that have it.
	agents           *addonagent.AddOn
	managed          = map[managedCluster]*ocm.ManagedCluster{}
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
	join(ctx, withAgent, withoutAgent)
	history = ocmsuite.Follow(hub)
	// An add-on of any kind, with which the form of the gate rule is probed.
	register(ctx, "probed", "", false)
	withAgent.install(ctx, "probed")
	agents = addonagent.New(ctx, hub, managed[withAgent])
	manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
}, NodeTimeout(5*time.Minute))

// join has managed clusters join the hub, which they leave with the caller.
func join(ctx context.Context, names ...managedCluster) {
	GinkgoHelper()
	joined := make([]*ocm.ManagedCluster, len(names))
	var joins errgroup.Group
	for i, name := range names {
		joins.Go(func() (err error) {
			joined[i], err = hub.Join(ctx, string(name), ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: 2 * time.Second})
			return err
		})
	}
	Expect(joins.Wait()).To(Succeed())
	for i, name := range names {
		managed[name] = joined[i]
		DeferCleanup(joined[i].Stop)
		ocmsuite.RunWorkloads(joined[i])
	}
}

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

// manage runs addon-manager, and waits until its log has a text, and until addon-agent runs where it should.
func manage(ctx context.Context, until string, flags ...string) {
	GinkgoHelper()
	if manager != nil {
		Expect(manager.Stop(ctx)).To(Succeed())
	}
	manager = interlocked.Manage(append(flags, addonagent.GrantFlag)...)
	Eventually(manager.Printed).WithContext(ctx).WithArguments(until).Should(BeTrue())
	agents.Deploy(ctx)
}

// uninstall uninstalls Interlock, with addon-agent on all clusters, and returns what it prints.
func uninstall(ctx context.Context) string {
	GinkgoHelper()
	Expect(manager.Stop(ctx)).To(Succeed())
	manager = nil
	Expect(agents.Kill()).To(Succeed()) // OCM removes the pods
	out, err := exec.CommandContext(ctx, interlocked.Program, "uninstall", "--kubeconfig", hub.Kubeconfig(),
		"--namespace", interlock.Namespace).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
	return string(out)
}
