// Package console runs addon-manager console as a process with only the rights of deploy/console, for viewers with tokens of a hub.
package console

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	namespace = "interlock-system"
	account   = "system:serviceaccount:" + namespace + ":interlock-console"
)

func TestConsole(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "addon-manager console")
}

var (
	hub      *testenv.Cluster
	admin    client.WithWatch
	manager  string
	auditLog string
	login    *testenv.User
)

var _ = BeforeSuite(func(ctx context.Context) {
	manager = setup.Program("addon-manager")
	folder := GinkgoT().TempDir()
	auditLog = filepath.Join(folder, "audit.log")
	policy := filepath.Join(folder, "policy.yaml")
	Expect(os.WriteFile(policy, []byte(`apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: ["`+account+`"]
  - level: None
`), 0o600)).To(Succeed())
	hub = setup.Hub(ctx, map[string][]string{"audit-policy-file": {policy}, "audit-log-path": {auditLog}, "audit-log-mode": {"blocking"}})
	serve("Placement", "PlacementDecision")
	admin = setup.Administrator(hub, addonv1alpha1.AddToScheme, dependencyv1alpha1.AddToScheme, clusterv1.Install)
	for _, name := range []string{namespace, "viewers"} {
		Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	login = setup.Console.User(ctx, hub, admin, namespace, account)
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
	registration.Spec.InstallStrategy.Type = "Manual"
	registration.Spec.Requirements = &addonv1alpha1.AddonRequirements{OCM: ">= 0.1"}
	registration.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "tunnel", Type: addonv1alpha1.DependencyTypeRequired}, {
		Name: "of-the-hub", Type: addonv1alpha1.DependencyTypeOptional,
		API: &addonv1alpha1.DependencyAPI{
			AddonAPI: addonv1alpha1.AddonAPI{Group: "apps", Kind: "Deployment"}, ServedBy: addonv1alpha1.APIServerHub,
		},
	}}
	Expect(admin.Create(ctx, registration)).To(Succeed())
	for _, name := range []string{"cluster1", "cluster2", "cluster3"} {
		join(ctx, name)
	}
})

// serve has the hub serve kinds of OCM that no CRD of the tests has.
func serve(kinds ...string) {
	GinkgoHelper()
	options := envtest.CRDInstallOptions{}
	for _, kind := range kinds {
		singular := strings.ToLower(kind)
		plural := singular + "s"
		options.CRDs = append(options.CRDs, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + "." + clusterv1.GroupName},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: clusterv1.GroupName, Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{
					Kind: kind, ListKind: kind + "List", Plural: plural, Singular: singular,
				},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1beta1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
						OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)},
					},
				}},
			},
		})
	}
	_, err := envtest.InstallCRDs(hub.Config, options)
	Expect(err).NotTo(HaveOccurred())
}

// join adds a managed cluster with an add-on that works, and one that lacks what it requires.
func join(ctx context.Context, name string) {
	GinkgoHelper()
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	Expect(admin.Create(ctx, cluster)).To(Succeed())
	meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
		Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Tested",
	})
	Expect(admin.Status().Update(ctx, cluster)).To(Succeed())
	Expect(admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	for _, addOn := range []string{"gateway", "monitor"} {
		Expect(admin.Create(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: addOn}})).To(Succeed())
		setAvailable(ctx, name, addOn, metav1.ConditionTrue, "works on "+name)
	}
}

// setAvailable sets the condition Available of an add-on.
func setAvailable(ctx context.Context, cluster, name string, status metav1.ConditionStatus, message string) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	Expect(admin.Get(ctx, client.ObjectKey{Namespace: cluster, Name: name}, addOn)).To(Succeed())
	meta.SetStatusCondition(&addOn.Status.Conditions, metav1.Condition{Type: "Available", Status: status, Reason: "Tested", Message: message})
	Expect(admin.Status().Update(ctx, addOn)).To(Succeed())
}

// served is a process of the console.
type served struct {
	*gexec.Session

	address, probes string
}

// start runs the console until the spec ends, and waits until it is ready.
func start(ctx context.Context, flags ...string) served {
	GinkgoHelper()
	s := served{address: "https://" + testenv.FreeAddress().String(), probes: "http://" + testenv.FreeAddress().String()}
	s.Session = setup.Run(manager, append([]string{
		"console", "--kubeconfig", login.Kubeconfig, "--log-format=json", "--namespace", namespace,
		"--review-interval=1s", "--metrics-bind-address=0",
		"--console-bind-address", s.address[len("https://"):], "--health-probe-bind-address", s.probes[len("http://"):],
	}, flags...)...)
	Eventually(s.probe(ctx, "/readyz")).WithTimeout(30 * time.Second).Should(Equal(http.StatusOK))
	return s
}

// probe returns a function that returns the status of a probe. It is 0 if nothing responds.
func (s served) probe(ctx context.Context, path string) func() int {
	return func() int {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.probes+path, http.NoBody)
		Expect(err).NotTo(HaveOccurred())
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0
		}
		defer response.Body.Close()
		return response.StatusCode
	}
}
