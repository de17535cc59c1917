// Package deployment applies deploy/ to a real API server and runs the binaries
// there, each as the service account that deploy/ gives it: it tests that pods
// are what a restricted namespace takes, that every right is needed, and that
// an uninstallation leaves nothing.
package deployment

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/format"
	"github.com/onsi/gomega/gexec"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	namespace = "interlock-system"
	crdName   = "clustermanagementaddons.addon.open-cluster-management.io"
)

// The users of the processes.
const (
	managerUser   = "system:serviceaccount:" + namespace + ":interlock-addon-manager"
	webhookUser   = "system:serviceaccount:" + namespace + ":interlock-webhook"
	uninstallUser = "system:serviceaccount:" + namespace + ":interlock-uninstall"
	agentUser     = "agent-of-cluster1"
)

func TestDeployment(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(60 * time.Second)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	log.SetLogger(GinkgoLogr)
	format.MaxLength = 0 // what differs is at the end as well
	RunSpecs(t, "deployment")
}

var (
	hub      *testenv.Cluster
	admin    client.WithWatch
	requests *recorder
	programs = map[string]string{}
)

var _ = BeforeSuite(func(ctx context.Context) {
	DeferCleanup(gexec.CleanupBuildArtifacts)
	for _, name := range []string{"addon-manager", "addon-agent"} {
		program, err := gexec.Build("open-cluster-management.io/interlock/cmd/" + name)
		Expect(err).NotTo(HaveOccurred())
		programs[name] = program
	}
	requests = newRecorder()
	DeferCleanup(requests.close)
	var err error
	hub, err = testenv.StartHub(ctx, testenv.Options{Name: "hub", Flags: map[string][]string{
		// The recorder hears of every request, and has no opinion on any.
		"authorization-mode":                {"Webhook", "RBAC"},
		"authorization-webhook-config-file": {requests.config(GinkgoT().TempDir())},
		"authorization-webhook-version":     {"v1"},
		// Policies are one form of the guard. An API server that does not stream lists is listed, then watched.
		"feature-gates":  {"MutatingAdmissionPolicy=true,WatchList=false"},
		"runtime-config": {"admissionregistration.k8s.io/v1beta1=true"},
	}})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	scheme := runtime.NewScheme()
	Expect(errors.Join(
		addonv1alpha1.AddToScheme(scheme), clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme))).To(Succeed())
	unthrottled := rest.CopyConfig(hub.Config)
	unthrottled.QPS = -1
	unthrottled.WarningHandler = rest.NoWarnings{} // of old versions, when everything is listed
	admin, err = client.NewWithWatch(unthrottled, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
}, NodeTimeout(5*time.Minute))

// kustomized are the objects of a folder of deploy/.
func kustomized(folder string) []*unstructured.Unstructured {
	GinkgoHelper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../../deploy/"+folder)
	Expect(err).NotTo(HaveOccurred())
	var objects []*unstructured.Unstructured
	for _, resource := range built.Resources() {
		content, err := resource.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		object := &unstructured.Unstructured{}
		Expect(object.UnmarshalJSON(content)).To(Succeed())
		objects = append(objects, object)
	}
	return objects
}

func apply(ctx context.Context, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, object := range objects {
		err := admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.FieldOwner("kubectl"))
		Expect(err).NotTo(HaveOccurred(), "%s %s", object.GetKind(), object.GetName())
	}
}

// remove deletes what apply made. Nobody empties a namespace here, so that
// those stay.
func remove(ctx context.Context, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, object := range objects {
		if object.GetKind() != "Namespace" {
			Expect(client.IgnoreNotFound(admin.Delete(ctx, object.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground)))).To(Succeed())
		}
	}
}

// sessions are ended with the suite: they last for more than one spec.
var sessions []*gexec.Session

var _ = AfterSuite(func() {
	for _, session := range sessions {
		session.Kill().Wait()
	}
})

// start runs a program as the user.
func start(program, user string, arguments ...string) *gexec.Session {
	GinkgoHelper()
	credentials, err := hub.AddUser(user, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
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
