// Package protection shows, on a hub and a managed cluster of real OCM, what addon-manager webhook refuses when
// an add-on is deleted that installed add-ons require, and that it never is in the way of OCM and Kubernetes.
package protection

import (
	"context"
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
	hub     *ocm.Hub
	program string
	logs    string
	// address is the one at which the API server calls the webhook.
	address string
	// account has the rights of deploy/hub, and no other.
	account *testenv.User
	webhook *process.Process
)

func TestProtection(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "protection")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultEventuallyTimeout(time.Minute)
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	klog.SetLogger(GinkgoLogr)
	ctrl.SetLogger(GinkgoLogr)
	program, logs = setup.Program("addon-manager"), GinkgoT().TempDir()
	var err error
	hub, err = ocm.StartHub(ctx, ocm.HubOptions{InterlockCRDs: true})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(hub.Stop)
	Expect(dependencyv1alpha1.AddToScheme(hub.Client.Scheme())).To(Succeed())
	_, err = hub.Join(ctx, cluster, ocm.JoinOptions{})
	Expect(err).NotTo(HaveOccurred())
	install(ctx)
	serve(ctx, "--protection=enforce", "--protection-delay=0")
	DeferCleanup(func() error { return webhook.Kill() })
}, NodeTimeout(5*time.Minute))

func read(file string, into any) {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join("../../../deploy/hub", file))
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.Unmarshal(content, into)).To(Succeed())
}

// install creates what the webhook needs of deploy/hub. Its Service is a name of the loopback interface.
func install(ctx context.Context) {
	GinkgoHelper()
	free := testenv.FreeAddress()
	address = free.String()
	secret, configMap, role := &corev1.Secret{}, &corev1.ConfigMap{}, &rbacv1.Role{}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	read("webhook-secret.yaml", secret)
	read("webhook-ca-configmap.yaml", configMap)
	read("webhook-configuration.yaml", configuration)
	read("webhook-role.yaml", role)
	for _, object := range []client.Object{secret, configMap, role} {
		object.SetNamespace(namespace)
	}
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig.Service.Port = ptr.To(int32(free.Port))
	}
	user := "system:serviceaccount:" + namespace + ":interlock-webhook"
	var err error
	account, err = hub.AddUser(user)
	Expect(err).NotTo(HaveOccurred())
	clusterRole, err := testenv.ClusterRole("../../../deploy/hub", "webhook-clusterrole.yaml")
	Expect(err).NotTo(HaveOccurred())
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		secret, configMap, configuration, role, clusterRole,
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-webhook"},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
		},
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
}

// serve runs addon-manager webhook with its account's rights, and has the API server trust it, as addon-manager would.
func serve(ctx context.Context, flags ...string) {
	GinkgoHelper()
	var err error
	webhook, err = process.Start(program, filepath.Join(logs, "webhook.log"), append([]string{
		"webhook", "--kubeconfig", account.Kubeconfig, "--namespace", namespace,
		"--webhook-bind-address", address, "--metrics-bind-address=0", "--health-probe-bind-address=0",
	}, flags...)...)
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(g Gomega) {
		published := &corev1.ConfigMap{}
		g.Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "interlock-webhook-ca"}, published)).To(Succeed())
		g.Expect(published.Data).To(HaveKeyWithValue("ca.crt", Not(BeEmpty())))
		configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		g.Expect(hub.Client.Get(ctx, client.ObjectKey{Name: "interlock-webhook"}, configuration)).To(Succeed())
		for i := range configuration.Webhooks {
			configuration.Webhooks[i].ClientConfig.CABundle = []byte(published.Data["ca.crt"])
		}
		g.Expect(hub.Client.Update(ctx, configuration)).To(Succeed())
	}).Should(Succeed())
}
