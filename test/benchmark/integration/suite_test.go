// Package integration tests that the benchmark's simulator plays a fleet correctly,
// on a real API server, with the real addon-manager and agents.
package integration

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	clusters = 10
	patience = 2 * time.Minute
)

var (
	fleet    *simulator.Fleet
	observer *simulator.Observer
	trivial  *simulator.Trivial
	binary   string
)

func TestSimulator(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Simulator")
}

var _ = BeforeSuite(func() {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	var err error
	binary, err = filepath.Abs(filepath.Join("..", "..", "..", "bin", "addon-manager"))
	Expect(err).NotTo(HaveOccurred())
	Expect(binary).To(BeAnExistingFile(), "run `make build` first")

	ctx, cancel := context.WithCancel(context.Background())
	DeferCleanup(cancel)
	hub, err := simulator.StartHub(ctx, GinkgoT().TempDir(), "hub")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	fleet, err = simulator.NewFleet(ctx, hub, simulator.AddOns(simulator.MinAddOns, 1))
	Expect(err).NotTo(HaveOccurred())
	Expect(fleet.Grow(ctx, clusters, func() {})).To(Succeed())
	Expect(fleet.Clusters).To(HaveLen(clusters))
	observer, err = hub.Observe(ctx)
	Expect(err).NotTo(HaveOccurred())
	trivial, err = hub.NewTrivial()
	Expect(err).NotTo(HaveOccurred())
})

// start starts an addon-manager for the rest of a container, and waits until it has evaluated the whole fleet.
func start(options simulator.ManagerOptions) *simulator.Manager {
	GinkgoHelper()
	options.Binary = binary
	manager, err := fleet.Hub.StartManager(options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return manager.Stop(ctx)
	})
	Expect(manager.AwaitEvaluated(context.Background(), clusters*simulator.MinAddOns)).To(Succeed())
	return manager
}

func requestCounts() simulator.Counts {
	GinkgoHelper()
	counts, err := fleet.Hub.Requests.Count()
	Expect(err).NotTo(HaveOccurred())
	return counts
}
