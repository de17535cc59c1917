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
	// deployment is the deployment of Interlock on the hub.
	deployment *interlock.Interlock
	// agents is the addon-agent of all clusters that have it.
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
	deployment = interlock.Deploy(ctx, hub)
	serve("--lifecycle")
	DeferCleanup(func() error {
		var failure error
		if manager != nil {
			failure = manager.Kill()
		}
		return errors.Join(failure, webhook.Kill())
	})
	join(ctx, withAgent, withoutAgent)
	history = ocmsuite.Follow(hub)
	// The form of the gate rule is probed with an add-on of any kind.
	register(ctx, "probed", "", false)
	withAgent.install(ctx, "probed")
	agents = addonagent.New(ctx, hub, managed[withAgent])
	manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
}, NodeTimeout(5*time.Minute))

// join has managed clusters join the hub. They leave when the caller ends.
func join(ctx context.Context, names ...managedCluster) {
	GinkgoHelper()
	clusters := make([]*ocm.ManagedCluster, len(names))
	var joins errgroup.Group
	for i, name := range names {
		joins.Go(func() (err error) {
			clusters[i], err = hub.Join(ctx, string(name), ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: 2 * time.Second})
			return err
		})
	}
	Expect(joins.Wait()).To(Succeed())
	for i, name := range names {
		managed[name] = clusters[i]
		DeferCleanup(clusters[i].Stop)
		ocmsuite.RunWorkloads(clusters[i])
	}
}

// lifecycleOn runs addon-manager and its webhook with the lifecycle on, in place of the processes that earlier specs left.
func lifecycleOn(ctx context.Context) {
	GinkgoHelper()
	Expect(webhook.Stop(ctx)).To(Succeed())
	serve("--lifecycle")
	manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
}

// serve runs addon-manager webhook.
func serve(flags ...string) {
	GinkgoHelper()
	webhook = deployment.Serve(flags...)
}

// manage runs addon-manager. It waits until the log contains a text, and until addon-agent runs on its clusters.
func manage(ctx context.Context, logText string, flags ...string) {
	GinkgoHelper()
	if manager != nil {
		Expect(manager.Stop(ctx)).To(Succeed())
	}
	manager = deployment.Manage(append(flags, addonagent.GrantFlag)...)
	Eventually(manager.Printed).WithContext(ctx).WithArguments(logText).Should(BeTrue())
	agents.Deploy(ctx)
}

// uninstall uninstalls Interlock, with addon-agent on all clusters, and returns the output.
func uninstall(ctx context.Context) string {
	GinkgoHelper()
	Expect(manager.Stop(ctx)).To(Succeed())
	manager = nil
	Expect(agents.Kill()).To(Succeed()) // OCM removes the pods
	out, err := exec.CommandContext(ctx, deployment.Program, "uninstall", "--kubeconfig", hub.Kubeconfig(),
		"--namespace", interlock.Namespace).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
	return string(out)
}
