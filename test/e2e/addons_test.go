//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Conditions, and the reasons that the specs expect.
const (
	available = "Available"
	degraded  = "Degraded"

	required  = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	satisfied = "DependenciesSatisfied"
	renewed   = "ManagedClusterAddOnLeaseUpdated"
	stopped   = "ManagedClusterAddOnLeaseUpdateStopped"
	// probed is the reason of add-ons that OCM deploys from an AddOnTemplate, such as addon-agent.
	probed = "ProbeAvailable"
	// clusterLost is the reason of all add-ons on a lost cluster.
	clusterLost = "ManagedClusterLeaseUpdateStopped"
)

const (
	// agentNamespace is the namespace where OCM installs add-ons.
	agentNamespace = "open-cluster-management-agent-addon"

	account = "managed-serviceaccount"
	report  = "cluster-report"
	agent   = "interlock-agent"
)

// conditionOf reads a condition of an add-on on the hub. It is nil if the condition is not set.
func conditionOf(ctx context.Context, key types.NamespacedName, kind string) func() (*metav1.Condition, error) {
	return func() (*metav1.Condition, error) {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		err := hub.Get(ctx, key, addOn)
		return meta.FindStatusCondition(addOn.Status.Conditions, kind), err
	}
}

func onCluster1(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster1, Name: name}
}

func addOnsOn(ctx context.Context, cluster string) []addonv1alpha1.ManagedClusterAddOn {
	GinkgoHelper()
	var addOns addonv1alpha1.ManagedClusterAddOnList
	Expect(hub.List(ctx, &addOns, client.InNamespace(cluster))).To(Succeed())
	return addOns.Items
}

// be matches a condition with that status and reason.
func be(status metav1.ConditionStatus, reason string) gomegatypes.GomegaMatcher {
	return And(Not(BeNil()), HaveField("Status", status), HaveField("Reason", reason))
}

// register creates the registration of an add-on that is installed by hand, with dependencies.
func register(ctx context.Context, name string, dependencies ...string) {
	GinkgoHelper()
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	registration.Spec.InstallStrategy.Type = "Manual"
	for _, dependency := range dependencies {
		registration.Spec.Dependencies = append(registration.Spec.Dependencies, addonv1alpha1.AddonDependency{Name: dependency})
	}
	Eventually(func() error { return client.IgnoreAlreadyExists(hub.Create(ctx, registration.DeepCopy())) }).Should(Succeed())
}

func install(ctx context.Context, key types.NamespacedName) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	Eventually(func() error { return hub.Create(ctx, addOn.DeepCopy()) }).Should(Succeed())
}

func uninstall(ctx context.Context, key types.NamespacedName) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	Expect(client.IgnoreNotFound(hub.Delete(ctx, addOn))).To(Succeed())
	Eventually(deleted(ctx, hub, addOn)).Should(BeTrue(), "%s is still there", key)
}

// startAccountManager runs the manager of managed-serviceaccount on the hub. The add-on is registered by hand, so
// that the specs decide on which clusters it is installed.
func startAccountManager(ctx context.Context) {
	GinkgoHelper()
	folder := moduleFolder("addons", "open-cluster-management.io/managed-serviceaccount")
	crds, err := filepath.Glob(filepath.Join(folder, "charts/managed-serviceaccount/crds/*.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(crds).NotTo(BeEmpty())
	for _, file := range crds {
		crd := manifests(file)
		apply(ctx, hub, crd)
		awaitCRD(ctx, crd[0].GetName())
	}
	apply(ctx, hub, manifests("manifests/managed-serviceaccount.yaml", "IMAGE", images+"msa:"+firstVersion))
	register(ctx, account)
}

// startReport deploys the example like its README, with the suite's image.
func startReport(ctx context.Context) {
	GinkgoHelper()
	for _, file := range []string{"clustermanagementaddon.yaml", "manager.yaml"} {
		apply(ctx, hub, reportManifests(file))
	}
}

func reportManifests(file string) []*unstructured.Unstructured {
	GinkgoHelper()
	image := images + report + ":" + firstVersion
	return manifests("../../examples/cluster-report/deploy/"+file,
		"image: cluster-report #", fmt.Sprintf("image: %s #", image), "--agent-image=cluster-report", "--agent-image="+image)
}
