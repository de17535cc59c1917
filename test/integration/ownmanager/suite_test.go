// Package ownmanager shows, on a hub and a managed cluster of real OCM, that the gate also holds back add-ons that their own managers
// deploy, and which
// of their objects do not wait. Two of the add-ons are cluster-proxy and managed-serviceaccount, with their own binaries.
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
	// deployment is the deployment of Interlock on the hub.
	deployment *interlock.Interlock
	// addonManager is Interlock's addon-manager.
	addonManager *interlock.Running
)

func TestOwnManager(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "add-ons with their own manager")
}

var _ = BeforeSuite(func(ctx context.Context) {
	hub = ocmsuite.Begin(ctx, 30*time.Second, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	deployment = interlock.Deploy(ctx, hub)
	webhook := deployment.Serve("--lifecycle")
	DeferCleanup(func() error { return errors.Join(addonManager.Kill(), webhook.Kill()) })
	managed, err := hub.Join(ctx, cluster, ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: 2 * time.Second})
	Expect(err).NotTo(HaveOccurred())
	ocmsuite.RunWorkloads(managed)
	renewLease(managed, serviceAccounts)
	history = ocmsuite.Follow(hub)
	// The form of the gate rule is probed with this add-on.
	register(ctx, "probed", "")
	install(ctx, "probed")
	manage(ctx, "webhook")
}, NodeTimeout(5*time.Minute))

// A failed spec reports all add-ons.
var _ = JustAfterEach(func(ctx context.Context) {
	if !CurrentSpecReport().Failed() {
		return
	}
	var addOns addonv1alpha1.ManagedClusterAddOnList
	Expect(hub.Client.List(ctx, &addOns)).To(Succeed())
	for i := range addOns.Items {
		addOns.Items[i].ManagedFields = nil
		content, err := yaml.Marshal(&addOns.Items[i])
		Expect(err).NotTo(HaveOccurred())
		AddReportEntry(addOns.Items[i].Name, string(content))
	}
})

// manage runs addon-manager with the gate rule in one of its forms.
func manage(ctx context.Context, form string) {
	GinkgoHelper()
	if addonManager != nil {
		Expect(addonManager.Stop(ctx)).To(Succeed())
	}
	addonManager = deployment.Manage("--lifecycle", "--guard="+form)
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
