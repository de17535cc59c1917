// Package versions tests on Open Cluster Management itself where addon-manager
// reads the version and the configuration of an add-on.
package versions

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	interlock "open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/test/testenv/ocm"
	"open-cluster-management.io/interlock/test/witness"
	"open-cluster-management.io/interlock/test/witness/suite"
)

var (
	hub     *ocm.Hub
	managed *ocm.ManagedCluster
	// observer judges suite.Declared: each step declares what it changes.
	observer *witness.Witness
)

func TestVersions(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "versions and configuration on Open Cluster Management")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)

	var err error
	options := ocm.HubOptions{InterlockCRDs: true}
	var auditLog string
	options.Flags, auditLog, err = witness.AuditFlags(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	hub, err = ocm.StartHub(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	managed, err = hub.Join(ctx, "cluster1", ocm.JoinOptions{WorkAgent: true})
	Expect(err).NotTo(HaveOccurred())
	observer = suite.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: auditLog, Unguarded: true}, suite.Declared)
	startAddonManager()
}, NodeTimeout(5*time.Minute))

// startAddonManager starts Interlock on the hub, without an addon-agent anywhere.
func startAddonManager() {
	GinkgoHelper()
	manager, err := interlock.NewManager(hub.Config, interlock.Options{
		MetricsAddress: "0", HealthAddress: "0", Offline: evaluation.OfflineHold, Concurrency: 4,
		LeaderElectionNamespace: "kube-system", Registry: prometheus.NewRegistry(),
	})
	Expect(err).NotTo(HaveOccurred())
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(running) }()
	DeferCleanup(func() {
		stop()
		Expect(<-ended).To(Succeed())
	})
}
