// Package order shows, on a hub and a managed cluster of real OCM, that the installation of an add-on waits for its
// dependencies where it declares ordering: Install, with the gate rule in each of its forms.
package order

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const namespace = "interlock-system"

var (
	hub           *ocm.Hub
	managed       *ocm.ManagedCluster
	program, logs string
	// address is the one at which the API server calls the webhook.
	address          string
	manager, webhook *process.Process
	// starts counts processes, for the names of their logs.
	starts int
	// managerUser and webhookUser have the rights that are deployed, and no other.
	managerUser, webhookUser *testenv.User
)

func TestOrder(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "order of installations")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(30 * time.Second)
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)
	program, logs = setup.Program("addon-manager"), GinkgoT().TempDir()
	var err error
	hub, err = ocm.StartHub(ctx, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	Expect(dependencyv1alpha1.AddToScheme(hub.Client.Scheme())).To(Succeed())
	setup.Policies(ctx, hub.Client)
	deployInterlock(ctx)
	serve("--lifecycle")
	DeferCleanup(func() error {
		var failed error
		if manager != nil {
			failed = manager.Kill()
		}
		return errors.Join(failed, webhook.Kill())
	})
	managed, err = hub.Join(ctx, cluster, ocm.JoinOptions{WorkAgent: true, AddOnLeaseInterval: 2 * time.Second})
	Expect(err).NotTo(HaveOccurred())
	runWorkloads()
	followTheHub()
	// An add-on of any kind, with which the form of the gate rule is probed.
	register(ctx, "probed", "", false)
	install(ctx, "probed")
}, NodeTimeout(5*time.Minute))

func read(file string, into any) {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join("../../../deploy", file))
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.Unmarshal(content, into)).To(Succeed())
}

// deployInterlock creates what deploy/hub and deploy/lifecycle have. The Service of the webhook is a name of the loopback
// interface.
func deployInterlock(ctx context.Context) {
	GinkgoHelper()
	free := testenv.FreeAddress()
	address = free.String()
	secret, configMap := &corev1.Secret{}, &corev1.ConfigMap{}
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	read("hub/webhook-secret.yaml", secret)
	read("hub/webhook-ca-configmap.yaml", configMap)
	read("hub/webhook-configuration.yaml", validating)
	read("lifecycle/webhook-configuration.yaml", mutating)
	secret.Namespace, configMap.Namespace = namespace, namespace
	for i := range validating.Webhooks {
		validating.Webhooks[i].ClientConfig.Service.Port = ptr.To(int32(free.Port))
	}
	for i := range mutating.Webhooks {
		mutating.Webhooks[i].ClientConfig.Service.Port = ptr.To(int32(free.Port))
	}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, secret, configMap, validating, mutating,
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-webhook"},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
		},
	} {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	managerUser = userWith(ctx, "addon-manager", "hub/role.yaml", testenv.ManagerRoles...)
	webhookUser = userWith(ctx, "webhook", "hub/webhook-role.yaml", "webhook-clusterrole.yaml")
}

// userWith is a new user of the hub with the name of a service account, and with roles of deploy.
func userWith(ctx context.Context, name, roleFile string, clusterRoleFiles ...string) *testenv.User {
	GinkgoHelper()
	account := "system:serviceaccount:" + namespace + ":interlock-" + name
	user, err := hub.AddUser(account)
	Expect(err).NotTo(HaveOccurred())
	clusterRole, err := testenv.ClusterRole("../../../deploy/hub", clusterRoleFiles...)
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.Role{}
	read(roleFile, role)
	role.Namespace = namespace
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: account}}
	for _, object := range []client.Object{
		clusterRole, role,
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: clusterRole.Name}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole.Name},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		},
	} {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	return user
}

// lifecycleOn runs both with the lifecycle on, whatever the specs before have left.
func lifecycleOn(ctx context.Context) {
	GinkgoHelper()
	Expect(webhook.Stop(ctx)).To(Succeed())
	serve("--lifecycle")
	manage(ctx, "Gate rule is in force", "--lifecycle", "--guard=policy")
}

// serve runs addon-manager webhook.
func serve(flags ...string) {
	GinkgoHelper()
	starts++
	var err error
	webhook, err = process.Start(program, filepath.Join(logs, fmt.Sprintf("webhook-%d.log", starts)), append([]string{
		"webhook", "--kubeconfig", webhookUser.Kubeconfig, "--namespace", namespace, "--protection=off",
		"--webhook-bind-address", address, "--metrics-bind-address=0", "--health-probe-bind-address=0",
	}, flags...)...)
	Expect(err).NotTo(HaveOccurred())
}

// manage runs addon-manager, and waits until its log has a text.
func manage(ctx context.Context, until string, flags ...string) {
	GinkgoHelper()
	if manager != nil {
		Expect(manager.Stop(ctx)).To(Succeed())
	}
	starts++
	log := filepath.Join(logs, fmt.Sprintf("addon-manager-%d.log", starts))
	var err error
	manager, err = process.Start(program, log, append([]string{
		"--kubeconfig", managerUser.Kubeconfig, "--leader-elect-namespace", namespace,
		"--metrics-bind-address=0", "--health-probe-bind-address=0",
	}, flags...)...)
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() ([]byte, error) { return os.ReadFile(log) }).WithContext(ctx).Should(ContainSubstring(until))
}
