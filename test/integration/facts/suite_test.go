// Package facts tests the ManagedClusterFacts that addon-manager requests and addon-agent reports, between real API servers: a hub and
// a managed cluster.
package facts

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/logging"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

// recovery bounds how long components take to notice the end of an outage, because client-go's watches wait up to a minute by then.
const recovery = 90 * time.Second

var (
	fleet        *testenv.Fleet
	hub, managed client.Client
)

func TestFacts(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "facts of managed clusters")
}

var _ = BeforeSuite(func(ctx context.Context) {
	(&logging.Options{Format: "text", Verbosity: 1}).Start(GinkgoWriter)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	SetDefaultConsistentlyDuration(time.Second)
	SetDefaultConsistentlyPollingInterval(50 * time.Millisecond)

	var err error
	fleet, err = testenv.StartFleet(ctx, testenv.Options{Name: "hub"}, testenv.Options{Name: "managed"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(fleet.Stop()).To(Succeed()) })
	types := []func(*runtime.Scheme) error{
		apiextensionsv1.AddToScheme, clusterv1.Install, addonv1alpha1.AddToScheme, dependencyv1alpha1.AddToScheme,
	}
	hub, managed = setup.Administrator(fleet.Hub, types...), setup.Administrator(fleet.Managed[0], types...)
}, NodeTimeout(5*time.Minute))
