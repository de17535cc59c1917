// Package ownmanager shows, on a hub and a managed cluster of real OCM, that the gate holds for add-ons which their own managers
// deploy, and what does not wait there. Two of them are cluster-proxy and managed-serviceaccount, with their own binaries.
package ownmanager

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/test/setup/interlock"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const cluster = "cluster1"

var (
	hub     *ocm.Hub
	history *ocmsuite.History
	// interlocked is Interlock on the hub.
	interlocked *interlock.Interlock
	// addonManager is that of Interlock.
	addonManager *interlock.Running
)

func TestOwnManager(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "add-ons with their own manager")
}

var _ = BeforeSuite(func(ctx context.Context) {
	hub = ocmsuite.Begin(ctx, 30*time.Second, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	interlocked = interlock.Deploy(ctx, hub)
	webhook := interlocked.Serve("--lifecycle")
	DeferCleanup(func() error { return errors.Join(addonManager.Kill(), webhook.Kill()) })
	managed, err := hub.Join(ctx, cluster, ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: 2 * time.Second})
	Expect(err).NotTo(HaveOccurred())
	ocmsuite.RunWorkloads(managed)
	renewLease(managed, serviceAccounts)
	history = ocmsuite.Follow(hub)
	// An add-on with which Interlock probes the form of the gate rule.
	register(ctx, "probed", "")
	install(ctx, "probed")
	manage(ctx, "webhook")
}, NodeTimeout(5*time.Minute))

// A spec that fails reports all add-ons.
var _ = JustAfterEach(func(ctx context.Context) {
	if !CurrentSpecReport().Failed() {
		return
	}
	var installed addonv1alpha1.ManagedClusterAddOnList
	Expect(hub.Client.List(ctx, &installed)).To(Succeed())
	for i := range installed.Items {
		installed.Items[i].ManagedFields = nil
		content, err := yaml.Marshal(&installed.Items[i])
		Expect(err).NotTo(HaveOccurred())
		AddReportEntry(installed.Items[i].Name, string(content))
	}
})

// manage runs addon-manager with the gate rule in one of its forms.
func manage(ctx context.Context, form string) {
	GinkgoHelper()
	if addonManager != nil {
		Expect(addonManager.Stop(ctx)).To(Succeed())
	}
	addonManager = interlocked.Manage("--lifecycle", "--guard="+form)
	Eventually(addonManager.Printed).WithContext(ctx).WithArguments("Gate rule is in force").Should(BeTrue())
}

// renewLease renews the lease of an add-on until the suite ends, as its agent would.
func renewLease(managed *ocm.ManagedCluster, addOn string) {
	GinkgoHelper()
	ctx, stop := context.WithCancel(context.Background())
	exit := make(chan error, 1)
	go func() { exit <- managed.RenewLease(ctx, addOn, time.Minute) }()
	DeferCleanup(func() {
		stop()
		Expect(<-exit).To(Succeed())
	})
}
