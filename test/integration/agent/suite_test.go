// Package agent tests addon-agent between real API servers: a hub, a managed cluster, and a cluster that hosts add-ons. Leases are
// written as add-ons do, and conditions as the other writers of a hub do.
package agent

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/logging"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

var (
	fleet   *testenv.Fleet
	hub     client.WithWatch
	managed client.WithWatch
	hosting client.WithWatch
	binary  string
)

func TestAgent(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "addon-agent")
}

var _ = BeforeSuite(func(ctx context.Context) {
	(&logging.Options{Format: "text", Verbosity: 1}).Start(GinkgoWriter)
	SetDefaultEventuallyTimeout(15 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(50 * time.Millisecond)

	var err error
	fleet, err = testenv.StartFleet(ctx, testenv.Options{Name: "hub"}, testenv.Options{Name: "managed"}, testenv.Options{Name: "hosting"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(fleet.Stop()).To(Succeed()) })
	hub = setup.Administrator(fleet.Hub, addonv1alpha1.AddToScheme)
	managed = setup.Administrator(fleet.Managed[0], addonv1alpha1.AddToScheme)
	hosting = setup.Administrator(fleet.Managed[1], addonv1alpha1.AddToScheme)

	setup.Policies(ctx, hub)
	binary = setup.Program("addon-agent")
}, NodeTimeout(5*time.Minute))
