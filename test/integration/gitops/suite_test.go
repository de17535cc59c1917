// Package gitops records how OCM and Interlock write add-ons and their registrations, for the tests of the health checks in
// hack/gitops:
//
//	go test ./test/integration/gitops -update
//
// Without -update it compares their writes with the records, so that the records stay correct for the present OCM and Interlock.
package gitops

import (
	"context"
	"flag"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
	"open-cluster-management.io/interlock/test/witness"
	"open-cluster-management.io/interlock/test/witness/suite"
)

const (
	// leaseDuration is a lease duration in seconds. The hub loses a cluster after five times as long.
	leaseDuration = 3
	// addOnLeaseDuration is the same for the lease of an add-on, which is renewed at renewInterval.
	addOnLeaseDuration = 3
	renewInterval      = time.Second
)

var update = flag.Bool("update", false, "record the objects in hack/gitops/testdata")

var (
	hub     *ocm.Hub
	managed *ocm.ManagedCluster
)

func TestGitOps(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "objects that health checks read")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(2 * time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)

	var err error
	hub, err = ocm.StartHub(ctx, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	managed, err = hub.Join(ctx, "cluster1", ocm.JoinOptions{
		WorkAgent: true, LeaseDurationSeconds: leaseDuration,
		AddOnLeaseInterval: renewInterval, AddOnLeaseDurationSeconds: addOnLeaseDuration,
	})
	Expect(err).NotTo(HaveOccurred())
	suite.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: hub.AuditLog}, suite.Undeclared)
	startInterlock()
}, NodeTimeout(5*time.Minute))

// startInterlock starts addon-manager, and addon-agent on the managed cluster.
func startInterlock() {
	GinkgoHelper()
	onHub, onManaged := administrator(hub.Cluster), administrator(managed.Cluster)
	grace := 5 * addOnLeaseDuration * time.Second
	start("addon-manager", "--kubeconfig", onHub, "--leader-elect=false", "--guard", "policy")
	start("addon-agent", "--cluster-name", managed.Name, "--hub-kubeconfig", onHub, "--kubeconfig", onManaged,
		"--lease-grace-period", grace.String())
}

func administrator(cluster *testenv.Cluster) (kubeconfig string) {
	GinkgoHelper()
	user, err := cluster.AddUser("interlock", "system:masters")
	Expect(err).NotTo(HaveOccurred())
	return user.Kubeconfig
}

func start(program string, flags ...string) {
	GinkgoHelper()
	log := filepath.Join(GinkgoT().TempDir(), program+".log")
	flags = append(flags, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	started, err := process.Start(setup.Program(program), log, flags...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(started.Kill)
}
