// Package lossless shows that no declaration in fields is lost, and no verdict changes, when the graft is removed and restored in every
// known way. On a
// hub of OCM's with a managed cluster, ten add-ons declare dependencies in fields. Meanwhile, a writer of v1beta1 writes 50 times per
// second.
package lossless

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	namespace = "interlock-system"
	cluster   = "cluster1"
)

var (
	hub     *ocm.Hub
	managed *ocm.ManagedCluster
	admin   client.WithWatch
	program string // path of addon-manager
)

func TestLossless(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "declarations are not lost")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	SetDefaultConsistentlyPollingInterval(50 * time.Millisecond)
	format.MaxLength = 0
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)

	program = setup.Program("addon-manager")
	var err error
	hub, err = ocm.StartHub(ctx, ocm.HubOptions{Operator: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return hub.Stop() })
	managed, err = hub.Join(ctx, cluster, ocm.JoinOptions{AddOnLeaseInterval: time.Second})
	Expect(err).NotTo(HaveOccurred())

	scheme := runtime.NewScheme()
	Expect(errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), clusterv1.Install(scheme),
		addonv1alpha1.AddToScheme(scheme), dependencyv1alpha1.AddToScheme(scheme))).To(Succeed())
	config := rest.CopyConfig(hub.Config)
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	admin, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	rememberCRD(ctx)
	install(ctx)
	registerAddOns(ctx)
	watchVerdicts(ctx, config)
	startWebhook()
}, NodeTimeout(5*time.Minute))
