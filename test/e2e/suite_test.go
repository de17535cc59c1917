//go:build e2e

// Package e2e runs Interlock like users install it: by its Helm chart, on a hub and a managed cluster that clusteradm
// made, with real add-ons. It gets only kubeconfigs. `make e2e` sets the kubeconfigs of two real nodes on one machine,
// and `make e2e-kind` sets the kubeconfigs of three kind clusters. If only one of these setups supports a spec, the
// other one skips it with a message.
package e2e

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Names of managed clusters on the hub. Only kind has the second one.
const (
	cluster1 = "cluster1"
	cluster2 = "cluster2"
)

var (
	hub, managed             client.WithWatch
	hubConfig, managedConfig *rest.Config
	// managedClusters are all managed clusters, by their names.
	managedClusters = map[string]managedCluster{}
)

// managedCluster is the way to the API of a managed cluster.
type managedCluster struct {
	client client.WithWatch
	config *rest.Config
}

func TestInterlock(t *testing.T) {
	RegisterFailHandler(Fail)
	format.MaxLength = 0 // differences may be at the end of a message
	RunSpecs(t, "Interlock on clusters")
}

var _ = BeforeSuite(func(ctx context.Context) {
	// On a busy machine, a pod may have to be scheduled, started, and noticed by others.
	SetDefaultEventuallyTimeout(2 * time.Minute)
	SetDefaultEventuallyPollingInterval(250 * time.Millisecond)
	hub, hubConfig = connect("HUB_KUBECONFIG")
	managed, managedConfig = connect("MANAGED_KUBECONFIG")
	managedClusters[cluster1] = managedCluster{managed, managedConfig}
	if os.Getenv("MANAGED2_KUBECONFIG") != "" {
		second, config := connect("MANAGED2_KUBECONFIG")
		managedClusters[cluster2] = managedCluster{second, config}
	}

	Expect(isInstalled(ctx)).To(BeFalse(), "Interlock is on the hub: uninstall it, as the suite installs it by itself")
	ensureOCM(ctx)
	installElder(ctx)
	takeFirstSnapshot(ctx)
	deploy(ctx, firstVersion)
}, NodeTimeout(15*time.Minute))

// connect returns a client for the cluster of the kubeconfig that a variable names, and its configuration.
func connect(variable string) (client.WithWatch, *rest.Config) {
	GinkgoHelper()
	Expect(os.Getenv(variable)).NotTo(BeEmpty(), "%s must name a kubeconfig: `make e2e` sets it", variable)
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv(variable))
	Expect(err).NotTo(HaveOccurred())
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{} // warnings of old versions, when everything is listed
	scheme := runtime.NewScheme()
	Expect(errors.Join(clientgoscheme.AddToScheme(scheme), addonv1alpha1.AddToScheme(scheme), ocmv1beta1.Install(scheme),
		clusterv1.Install(scheme), clusterv1beta1.Install(scheme), workv1.Install(scheme), apiextensionsv1.AddToScheme(scheme))).To(Succeed())
	cluster, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return cluster, config
}
