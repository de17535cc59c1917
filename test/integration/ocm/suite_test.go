// Package ocm tests the environment of other suites: OCM's own hub and agents, without Interlock. It also states the behavior on which
// Interlock relies, so that it fails with an OCM version that behaves differently (OCM_ASSETS). No witness judges it, because Interlock
// does not run here.
package ocm

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	// leaseDuration has the hub lose a cluster after five times as long.
	leaseDuration = 2
	// addOnLeaseDuration is the same for the lease of an add-on.
	addOnLeaseDuration = 2
	addOnLeaseInterval = time.Second
)

var (
	hub     *ocm.Hub
	managed *ocm.ManagedCluster
)

func TestOCM(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "OCM")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(time.Minute)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)

	var err error
	hub, err = ocm.StartHub(ctx, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	managed, err = hub.Join(ctx, "cluster1", ocm.JoinOptions{
		WorkAgent:                 true,
		LeaseDurationSeconds:      leaseDuration,
		AddOnLeaseInterval:        addOnLeaseInterval,
		AddOnLeaseDurationSeconds: addOnLeaseDuration,
	})
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(5*time.Minute))
