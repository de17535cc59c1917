// Package agentaddon tests addon-agent as an add-on of OCM, which deploys it from the objects of deploy/agent-addon. addon-manager is a
// process with the permissions of deploy/hub, and addon-agent a process with the files that OCM gives to its Deployment.
package agentaddon

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/logging"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
	"open-cluster-management.io/interlock/test/witness"
	"open-cluster-management.io/interlock/test/witness/suite"
)

const (
	namespace = "interlock-system"
	addOnName = "interlock-agent"
	// image is the image of deploy/agent-addon.
	image = "quay.io/open-cluster-management/interlock-addon-agent:0.1.0"
	// managerUser is the user of addon-manager on the hub.
	managerUser = "addon-manager"
)

var (
	fleet        *ocm.Hub
	managed      = map[string]*ocm.ManagedCluster{}
	hub          client.WithWatch
	manager      string // paths of the binaries
	agent        string
	managerLogin *testenv.User
)

func TestAgentAddOn(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "addon-agent as an add-on")
}

var _ = BeforeSuite(func(ctx context.Context) {
	(&logging.Options{Format: "text"}).Start(GinkgoWriter)
	SetDefaultEventuallyTimeout(60 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	var err error
	// This hub requires the permission to set owners that block deletion, as OpenShift does.
	strict := ocm.HubOptions{InterlockCRDs: true}
	strict.Flags, auditLog = auditFlags()
	strict.Flags["enable-admission-plugins"] = []string{"OwnerReferencesPermissionEnforcement"}
	fleet, err = ocm.StartHub(ctx, strict)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(fleet.Stop()).To(Succeed()) })
	hub = administrator(fleet.Cluster)
	// Conditions and labels are not judged, because the suite changes too many of them.
	suite.Start(ctx, witness.Options{Hub: fleet.Config, AuditLog: auditLog}, suite.Undeclared)
	create(ctx, "docs/examples/global-placement.yaml") // OCM leaves the Placement to its users
	for _, name := range []string{"cluster1", "cluster10"} {
		join(ctx, name)
	}
	manager, agent = setup.Program("addon-manager"), setup.Program("addon-agent")

	managerLogin, err = fleet.AddUser(managerUser)
	Expect(err).NotTo(HaveOccurred())
	Expect(hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
	grant(ctx)
}, NodeTimeout(8*time.Minute))

func administrator(cluster *testenv.Cluster) client.WithWatch {
	GinkgoHelper()
	return setup.Administrator(cluster, addonv1alpha1.AddToScheme, ocmv1beta1.Install, clusterv1.Install, workv1.Install)
}

func load(file string, target any) {
	GinkgoHelper()
	content, err := os.ReadFile("../../../deploy/" + file)
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.UnmarshalStrict(content, target)).To(Succeed())
}

// grant gives addon-manager the roles of deploy/hub.
func grant(ctx context.Context) {
	GinkgoHelper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: managerUser}}
	for _, files := range [][]string{testenv.ManagerRoles, {"agent-clusterrole.yaml"}} {
		role, err := testenv.ClusterRole("../../../deploy/hub", files...)
		Expect(err).NotTo(HaveOccurred())
		Expect(hub.Create(ctx, role)).To(Succeed())
		Expect(hub.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		})).To(Succeed())
	}
	role := &rbacv1.Role{}
	load("hub/role.yaml", role)
	role.Namespace = namespace
	agents := &rbacv1.ClusterRole{}
	load("hub/agent-hub-clusterrole.yaml", agents)
	for _, object := range []client.Object{role, agents, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}} {
		Expect(hub.Create(ctx, object)).To(Succeed())
	}
}

// startManager runs addon-manager with the flags of deploy/agent-addon.
func startManager() *gexec.Session {
	GinkgoHelper()
	return launch(manager, managerFlags(managerLogin.Kubeconfig, "--grant-agent-rights")...)
}

func managerFlags(kubeconfig string, flags ...string) []string {
	return append([]string{
		"--kubeconfig", kubeconfig, "--leader-elect-namespace", namespace, "--metrics-bind-address=0", "--health-probe-bind-address=0",
	}, flags...)
}

func launch(binary string, flags ...string) *gexec.Session {
	GinkgoHelper()
	session, err := gexec.Start(exec.Command(binary, flags...), GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	return session
}

// create creates the objects of a file, as kubectl does.
func create(ctx context.Context, file string) {
	GinkgoHelper()
	content, err := os.ReadFile("../../../" + file)
	Expect(err).NotTo(HaveOccurred())
	for document := range strings.SplitSeq(string(content), "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(Succeed())
		Expect(hub.Create(ctx, object, client.FieldValidation("Strict"))).To(Succeed())
	}
}

func join(ctx context.Context, name string) {
	GinkgoHelper()
	cluster, err := fleet.Join(ctx, name, ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: time.Second})
	Expect(err).NotTo(HaveOccurred())
	managed[name] = cluster
}

// registrationAgent returns a configuration with the permissions of a cluster's registration agent on the hub.
func registrationAgent(cluster string) *rest.Config {
	GinkgoHelper()
	config, err := clientcmd.BuildConfigFromFlags("", managed[cluster].HubKubeconfig())
	Expect(err).NotTo(HaveOccurred())
	return config
}
