// Package hub tests addon-manager against a real API server, case by case: its writes, the absence of writes, and its reports.
package hub

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

// mutationDetector has every informer compare its objects with copies of them, and panic at the first difference. client-go reads the
// variable before main.
const mutationDetector = "KUBE_CACHE_MUTATION_DETECTOR"

var (
	ctx        context.Context
	hubCluster *testenv.Cluster
	hubConfig  *rest.Config
	hubClient  client.WithWatch // uncached
)

// TestMain starts the test again with the mutation detector on. addon-manager reads its cache without copies, so it may not change the
// cached objects.
func TestMain(m *testing.M) {
	if os.Getenv(mutationDetector) == "" {
		executable, err := os.Executable()
		if err != nil {
			panic(err)
		}
		panic(syscall.Exec(executable, os.Args, append(os.Environ(), mutationDetector+"=true")))
	}
	os.Exit(m.Run())
}

func TestHub(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(15 * time.Second)
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	SetDefaultConsistentlyDuration(700 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "addon-manager on a hub")
}

var _ = BeforeSuite(func() {
	var cancel context.CancelFunc
	ctx, cancel = context.WithCancel(context.Background())
	DeferCleanup(cancel)
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)

	hubCluster = setup.Hub(ctx, nil)
	hubConfig = hubCluster.Config
	hubClient = setup.Administrator(hubCluster, fleet.AddToScheme, apiextensionsv1.AddToScheme)
})
