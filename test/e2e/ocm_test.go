//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/test/ocmstandin"
)

// Where OCM runs (kind), nothing in this file does anything. On the real nodes
// its images cannot be had, and stand-ins take the place of
//
//   - the operator: OCM's own CRDs from its api module, marked with its version;
//   - the conversion webhook, until Interlock takes over the conversion of
//     registrations: ocmstandin.Conversion, at the loopback address that it shares
//     with the hub's API server;
//   - addon-manager: ocmstandin.AddOnManager;
//   - the registration agent, as far as it asks for certificates, and the work
//     agent: ocmstandin.Klusterlet, as a user with the registration agent's name;
//   - the registration controller, which says whether the cluster is there:
//     reportCluster, called by the specs that lose the cluster.
//
// Certificates are signed and orphans are collected by the hub's own
// kube-controller-manager, and all pods are started by real kubelets.

// ocmVersion is what OCM's operator writes on its CRDs.
const ocmVersion = "1.3.1"

const registrationAgent = "system:open-cluster-management:" + cluster1 + ":agent"

// ocmIsReal: OCM itself is on the hub.
var ocmIsReal bool

// ensureOCM makes the hub one of OCM's, with the managed cluster joined.
func ensureOCM(ctx context.Context) {
	GinkgoHelper()
	ocmIsReal = crdExists(ctx, "managedclusteraddons.addon.open-cluster-management.io")
	if ocmIsReal {
		Eventually(clusterAvailable(ctx)).Should(BeTrue(), "OCM's hub has to have a managed cluster named %s", cluster1)
		return
	}
	lasting, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	DeferCleanup(func() { stop(); running.Wait() })
	installCRDs(ctx, lasting)
	joinCluster(ctx)
	klusterlet := rest.CopyConfig(hubConfig)
	klusterlet.Impersonate = rest.ImpersonationConfig{UserName: registrationAgent, Groups: []string{
		"system:open-cluster-management:" + cluster1, "system:open-cluster-management", "system:authenticated",
	}}
	report := func(err error) { GinkgoWriter.Println("stand-in:", err) }
	for _, run := range []func(context.Context) error{
		(&ocmstandin.AddOnManager{Hub: hubConfig, Report: report}).Run,
		(&ocmstandin.Klusterlet{Cluster: cluster1, Hub: klusterlet, Managed: managedConfig, Report: report}).Run,
	} {
		running.Go(func() {
			defer GinkgoRecover()
			Expect(run(lasting)).To(Succeed())
		})
	}
}

func crdExists(ctx context.Context, name string) bool {
	return hub.Get(ctx, client.ObjectKey{Name: name}, &apiextensionsv1.CustomResourceDefinition{}) == nil
}

// moduleFolder is where a module of a go.mod is.
func moduleFolder(in, module string) string {
	GinkgoHelper()
	command := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module)
	command.Dir = in
	out, err := command.Output()
	Expect(err).NotTo(HaveOccurred(), "find the module %s", module)
	return strings.TrimSpace(string(out))
}

func installCRDs(ctx, lasting context.Context) {
	GinkgoHelper()
	conversion, err := ocmstandin.ServeConversion(lasting)
	Expect(err).NotTo(HaveOccurred())
	folder := moduleFolder(".", "open-cluster-management.io/api")
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, file := range []string{
		"addon/v1beta1/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml",
		"addon/v1beta1/0000_01_addon.open-cluster-management.io_managedclusteraddons.crd.yaml",
		"addon/v1beta1/0000_02_addon.open-cluster-management.io_addondeploymentconfigs.crd.yaml",
		"cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml",
		"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
	} {
		content, err := os.ReadFile(filepath.Join(folder, file))
		Expect(err).NotTo(HaveOccurred())
		crd := &apiextensionsv1.CustomResourceDefinition{}
		Expect(yaml.Unmarshal(content, crd)).To(Succeed())
		metav1.SetMetaDataAnnotation(&crd.ObjectMeta, "operator.open-cluster-management.io/version", ocmVersion)
		if kind := crd.Spec.Names.Kind; kind == "ClusterManagementAddOn" || kind == "ManagedClusterAddOn" {
			conversion.Apply(crd)
		}
		Expect(hub.Create(ctx, crd)).To(Succeed())
		crds = append(crds, crd)
	}
	for _, crd := range crds {
		awaitCRD(ctx, crd.Name)
	}
}

func awaitCRD(ctx context.Context, name string) {
	GinkgoHelper()
	Eventually(func() (bool, error) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := hub.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			return false, err
		}
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.Established {
				return condition.Status == apiextensionsv1.ConditionTrue, nil
			}
		}
		return false, nil
	}).Should(BeTrue(), name)
}

// joinCluster makes the managed cluster known to the hub, as `clusteradm join`
// and `accept` do.
func joinCluster(ctx context.Context) {
	GinkgoHelper()
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster1}}
	cluster.Spec.HubAcceptsClient = true
	cluster.Spec.ManagedClusterClientConfigs = []clusterv1.ClientConfig{{URL: managedConfig.Host, CABundle: managedConfig.CAData}}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster1}},
		cluster,
		&rbacv1.ClusterRoleBinding{
			// OCM's own rights are not what is tested.
			ObjectMeta: metav1.ObjectMeta{Name: "klusterlet-" + cluster1},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: registrationAgent}},
		},
	} {
		Eventually(func() error { return hub.Create(ctx, object) }).Should(Succeed())
	}
	reportCluster(ctx, metav1.ConditionTrue)
}

// reportCluster says whether the managed cluster is there, as the hub's
// registration controller does by the cluster's lease. Of one that is not it says
// that nothing is known of its add-ons either.
func reportCluster(ctx context.Context, status metav1.ConditionStatus) {
	GinkgoHelper()
	reason := map[metav1.ConditionStatus]string{
		metav1.ConditionTrue: "ManagedClusterAvailable", metav1.ConditionUnknown: "ManagedClusterLeaseUpdateStopped",
	}[status]
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []metav1.Condition{
		{Type: clusterv1.ManagedClusterConditionHubAccepted, Status: metav1.ConditionTrue, Reason: "HubClusterAdminAccepted", LastTransitionTime: metav1.Now()},
		{Type: clusterv1.ManagedClusterConditionJoined, Status: metav1.ConditionTrue, Reason: "ManagedClusterJoined", LastTransitionTime: metav1.Now()},
		{Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: reason, LastTransitionTime: metav1.Now()},
	}}})
	Expect(err).NotTo(HaveOccurred())
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster1}}
	Expect(hub.Status().Patch(ctx, cluster, client.RawPatch("application/merge-patch+json", patch))).To(Succeed())
	if status == metav1.ConditionTrue {
		return
	}
	for _, addOn := range addOnsOnCluster1(ctx) {
		say(ctx, client.ObjectKeyFromObject(&addOn), metav1.Condition{
			Type: available, Status: status, Reason: reason, Message: "Registration agent stopped updating its lease.",
		})
	}
}

func clusterAvailable(ctx context.Context) func() (bool, error) {
	return func() (bool, error) {
		cluster := &clusterv1.ManagedCluster{}
		err := hub.Get(ctx, client.ObjectKey{Name: cluster1}, cluster)
		return meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable), err
	}
}
