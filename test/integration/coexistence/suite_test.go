// Package coexistence shows that Interlock and OCM's own writers of Available do not fight. On one hub and five managed clusters of
// real OCM, every kind of add-on depends on a missing add-on. The guard takes each of its forms in turn, agents die and come back, and
// in quiet periods a witness counts writes.
package coexistence

import (
	"context"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	// addOnLeaseInterval is how often registration agents read the leases of add-ons. OCM's default is 30 s.
	addOnLeaseInterval = 5 * time.Second
	// leaseDurationSeconds has the hub lose a cluster after five times as long.
	leaseDurationSeconds = 3
	// quietVariable sets how long each quiet period lasts, such as 2m.
	quietVariable = "COEXISTENCE_QUIET"
)

// quiet has time for several polls of every stock writer that polls.
var quiet = 20 * time.Second

var hub *ocm.Hub

func TestCoexistence(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "coexistence")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(2 * time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)
	if text := os.Getenv(quietVariable); text != "" {
		var err error
		quiet, err = time.ParseDuration(text)
		Expect(err).NotTo(HaveOccurred(), quietVariable)
	}
	binary.manager, binary.agent = setup.Program("addon-manager"), setup.Program("addon-agent")
	var err error
	hub, err = ocm.StartHub(ctx, ocm.HubOptions{MutatingAdmissionPolicy: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return hub.Stop() })
	installInterlock(ctx)
	DeferCleanup(stopInterlock)

	var joins errgroup.Group
	joins.SetLimit(2) // the number of the machine's cores, because each join has a time limit
	for _, s := range sites {
		joins.Go(func() error { return s.join(ctx) })
	}
	Expect(joins.Wait()).To(Succeed())
	registerAddOns(ctx)
	for _, s := range sites {
		s.installAddOns(ctx)
	}
	restartAuthors(ctx)
	for _, s := range sites {
		s.report(ctx)
	}
	for _, s := range sites {
		s.expect(ctx, stockConditions)
	}
}, NodeTimeout(8*time.Minute))
