// Package agentaddon tests addon-agent as an add-on of OCM's: addon-manager as
// a process with the rights of deploy/hub, OCM's parts by test/ocmstandin, and
// addon-agent as a process with what these have given it.
package agentaddon

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/logging"
	"open-cluster-management.io/interlock/test/ocmstandin"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	namespace = "interlock-system"
	addOnName = "interlock-agent"
	image     = "registry.example/interlock/addon-agent:v1"
	// managerUser is whom addon-manager is on the hub.
	managerUser = "addon-manager"
)

var (
	fleet        *testenv.Fleet
	hub          client.WithWatch
	manager      string // the binaries
	agent        string
	managerLogin *testenv.User
	ca           *ocmstandin.CA
	lasting      context.Context // ends with the suite
	running      sync.WaitGroup  // until then
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
	// A hub that asks for the right to make owners wait, as OpenShift's does.
	strict := testenv.Options{Name: "hub", Flags: map[string][]string{"enable-admission-plugins": {"OwnerReferencesPermissionEnforcement"}}}
	audit(strict.Flags)
	fleet, err = testenv.StartFleet(ctx, strict, testenv.Options{Name: "one"}, testenv.Options{Name: "two"})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(fleet.Stop()).To(Succeed()) })
	hub = administrator(fleet.Hub)
	for binary, path := range map[string]*string{"addon-manager": &manager, "addon-agent": &agent} {
		*path, err = gexec.Build("open-cluster-management.io/interlock/cmd/" + binary)
		Expect(err).NotTo(HaveOccurred())
	}
	DeferCleanup(gexec.CleanupBuildArtifacts)

	managerLogin, err = fleet.Hub.AddUser(managerUser)
	Expect(err).NotTo(HaveOccurred())
	Expect(hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
	grant(ctx)

	var stop context.CancelFunc
	lasting, stop = context.WithCancel(context.Background())
	DeferCleanup(func() {
		stop()
		running.Wait()
	})
	conversion, err := ocmstandin.ServeConversion(lasting)
	Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"clustermanagementaddons", "managedclusteraddons"} {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		Expect(hub.Get(ctx, client.ObjectKey{Name: name + ".addon.open-cluster-management.io"}, crd)).To(Succeed())
		conversion.Apply(crd)
		Expect(hub.Update(ctx, crd)).To(Succeed())
	}
	ca, err = ocmstandin.NewCA()
	Expect(err).NotTo(HaveOccurred())
	Expect(fleet.Hub.TrustClients(ca.Certificate)).To(Succeed())
}, NodeTimeout(5*time.Minute))

func administrator(cluster *testenv.Cluster) client.WithWatch {
	scheme := runtime.NewScheme()
	Expect(errors.Join(clientgoscheme.AddToScheme(scheme), addonv1alpha1.AddToScheme(scheme), ocmv1beta1.Install(scheme),
		clusterv1.Install(scheme), workv1.Install(scheme), apiextensionsv1.AddToScheme(scheme))).To(Succeed())
	config := *cluster.Config
	config.QPS = -1
	administrator, err := client.NewWithWatch(&config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return administrator
}

func load(file string, into any) {
	GinkgoHelper()
	content, err := os.ReadFile("../../../deploy/" + file)
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.UnmarshalStrict(content, into)).To(Succeed())
}

// grant gives addon-manager the roles of deploy/hub.
func grant(ctx context.Context) {
	GinkgoHelper()
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: managerUser}}
	for _, file := range []string{"hub/clusterrole.yaml", "hub/agent-clusterrole.yaml"} {
		role := &rbacv1.ClusterRole{}
		load(file, role)
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

// managerFlags have addon-manager install the agent.
func managerFlags() []string {
	return []string{
		"--kubeconfig", managerLogin.Kubeconfig, "--install-agent", "--agent-image", image,
		"--leader-elect-namespace", namespace, "--metrics-bind-address=0", "--health-probe-bind-address=0",
	}
}

// run runs a binary until the spec ends, at the latest.
func run(binary string, flags ...string) *gexec.Session {
	GinkgoHelper()
	session := launch(binary, flags...)
	DeferCleanup(func() { session.Kill().Wait() })
	return session
}

func launch(binary string, flags ...string) *gexec.Session {
	GinkgoHelper()
	session, err := gexec.Start(exec.Command(binary, flags...), GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	return session
}

// background runs until the suite ends.
func background(run func(context.Context) error) {
	running.Go(func() {
		defer GinkgoRecover()
		Expect(run(lasting)).To(Succeed())
	})
}

func report(err error) { GinkgoWriter.Println(err) }

// join makes a managed cluster known to the hub, and starts its klusterlet.
func join(ctx context.Context, name string, cluster *testenv.Cluster, configure ...func(*ocmstandin.Klusterlet)) {
	GinkgoHelper()
	Expect(hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	Expect(hub.Create(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	klusterlet := &ocmstandin.Klusterlet{Cluster: name, Hub: registrationAgent(ctx, name).Config, Managed: cluster.Config, Report: report}
	for _, change := range configure {
		change(klusterlet)
	}
	background(klusterlet.Run)
}

// registrationAgent is a user with the name of a cluster's registration agent,
// and with all rights: OCM's are not what is tested.
func registrationAgent(ctx context.Context, cluster string) *testenv.User {
	GinkgoHelper()
	name := "system:open-cluster-management:" + cluster + ":klusterlet"
	user, err := fleet.Hub.AddUser(name)
	Expect(err).NotTo(HaveOccurred())
	Expect(client.IgnoreAlreadyExists(hub.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "klusterlet-" + cluster},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}))).To(Succeed())
	return user
}
