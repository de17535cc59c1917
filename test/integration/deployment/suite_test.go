// Package deployment applies deploy/ to an OCM hub with a managed cluster and runs the binaries there, each as the service account that
// deploy/ gives it. It tests that a restricted namespace admits the pods, that every permission is needed, and that an uninstallation
// leaves nothing.
package deployment

import (
	"context"
	"errors"
	"maps"
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	"github.com/onsi/gomega/gexec"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	operatorv1 "open-cluster-management.io/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/offline/kustomization"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
	"open-cluster-management.io/interlock/test/witness"
	"open-cluster-management.io/interlock/test/witness/suite"
)

const (
	namespace = "interlock-system"
	cluster   = "cluster1"
	crdName   = "clustermanagementaddons.addon.open-cluster-management.io"
)

// The users of the processes.
const (
	managerUser   = "system:serviceaccount:" + namespace + ":interlock-addon-manager"
	webhookUser   = "system:serviceaccount:" + namespace + ":interlock-webhook"
	uninstallUser = "system:serviceaccount:" + namespace + ":interlock-uninstall"
	agentUser     = "system:open-cluster-management:cluster:" + cluster + ":addon:interlock-agent:agent:interlock-agent-agent"
)

func TestDeployment(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(60 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	log.SetLogger(GinkgoLogr)
	format.MaxLength = 0 // differences at the end are shown as well
	RunSpecs(t, "deployment")
}

var (
	hub      *ocm.Hub
	managed  *ocm.ManagedCluster
	admin    client.WithWatch
	requests *recorder
	programs = map[string]string{}
	observer *witness.Witness
)

var _ = BeforeSuite(func(ctx context.Context) {
	for _, name := range []string{"addon-manager", "addon-agent"} {
		programs[name] = setup.Program(name)
	}
	requests = newRecorder()
	DeferCleanup(requests.close)
	var err error
	// The recorder receives every authorization request, and has no opinion on any.
	recorderFlags := map[string][]string{
		"authorization-mode":                {"Webhook", "RBAC"},
		"authorization-webhook-config-file": {requests.config(GinkgoT().TempDir())},
		"authorization-webhook-version":     {"v1"},
		// Without list streaming, informers list first and then watch.
		"feature-gates": {"WatchList=false"},
	}
	options := ocm.HubOptions{MutatingAdmissionPolicy: true} // one form of the guard
	var auditLog string
	options.Flags, auditLog, err = witness.AuditFlags(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	maps.Copy(options.Flags, recorderFlags)
	options.Flags["feature-gates"] = []string{"MutatingAdmissionPolicy=true,WatchList=false"}
	hub, err = ocm.StartHub(ctx, options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	Expect(hub.ServeClusterManagers()).To(Succeed())
	joinOptions := ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: time.Second, AddOnLeaseDurationSeconds: leaseDurationSeconds}
	joinOptions.Flags = recorderFlags
	managed, err = hub.Join(ctx, cluster, joinOptions)
	Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	Expect(errors.Join(
		addonv1alpha1.AddToScheme(scheme), clusterv1beta1.Install(scheme), operatorv1.Install(scheme),
		dependencyv1alpha1.AddToScheme(scheme), clientgoscheme.AddToScheme(scheme))).To(Succeed())
	unthrottled := rest.CopyConfig(hub.Config)
	unthrottled.QPS = -1
	unthrottled.WarningHandler = rest.NoWarnings{} // warnings about old versions appear when everything is listed
	admin, err = client.NewWithWatch(unthrottled, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	observer = suite.Start(ctx, witness.Options{Hub: hub.Config, AuditLog: auditLog}, isJudged)
}, NodeTimeout(8*time.Minute))

// isJudged omits conditions and labels, because the suite changes too many of them.
func isJudged(f witness.Finding) bool { return suite.Undeclared(f) }

// kustomized returns the objects of a folder, relative to deploy/.
func kustomized(folder string) []*unstructured.Unstructured {
	GinkgoHelper()
	objects, err := kustomization.Build("../../../deploy/" + folder)
	Expect(err).NotTo(HaveOccurred())
	return objects
}

func apply(ctx context.Context, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, object := range objects {
		err := admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.FieldOwner("kubectl"))
		Expect(err).NotTo(HaveOccurred(), "%s %s", object.GetKind(), object.GetName())
	}
}

// remove deletes the objects that apply created, except namespaces. Their content would be deleted with them, and could not be
// compared.
func remove(ctx context.Context, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, object := range objects {
		if object.GetKind() != "Namespace" {
			Expect(client.IgnoreNotFound(admin.Delete(
				ctx, object.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground),
			))).To(Succeed())
		}
	}
}

// sessions end with the suite, because they outlive a spec.
var sessions []*gexec.Session

var _ = AfterSuite(func() {
	for _, session := range sessions {
		session.Kill().Wait()
	}
})

// startManager runs addon-manager as the user, on the hub.
func startManager(user string, arguments ...string) *gexec.Session {
	GinkgoHelper()
	return startOn(hub.Cluster, "addon-manager", user, arguments...)
}

func startOn(cluster *testenv.Cluster, program, user string, arguments ...string) *gexec.Session {
	GinkgoHelper()
	credentials, err := cluster.AddUser(user, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	Expect(err).NotTo(HaveOccurred())
	command := exec.Command(programs[program], append(arguments, "--kubeconfig", credentials.Kubeconfig)...)
	session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	sessions = append(sessions, session)
	return session
}

func stop(session *gexec.Session) {
	GinkgoHelper()
	Eventually(session.Terminate()).Should(gexec.Exit(0))
}
