// Package interlock runs Interlock on a hub of real OCM for a suite: addon-manager and addon-manager webhook as processes,
// with what deploy/hub and deploy/lifecycle have, and with the rights that these give, and no other.
package interlock

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// Namespace is that of Interlock.
const Namespace = "interlock-system"

// folder is deploy, from the folder of a suite.
const folder = "../../../deploy"

// Interlock is what runs of Interlock. Its processes end with the suite.
type Interlock struct {
	hub *ocm.Hub
	// Program is addon-manager.
	Program string
	logs    string
	// address is the one at which the API server calls the webhook.
	address string
	// ManagerUser has the rights of addon-manager.
	ManagerUser, webhookUser *testenv.User
	// starts counts processes, for the names of their logs.
	starts int
}

// Deploy creates what deploy/hub and deploy/lifecycle have, apart from Deployments. The Service of the webhook is a name of
// the loopback interface.
func Deploy(ctx context.Context, hub *ocm.Hub) *Interlock {
	GinkgoHelper()
	free := testenv.FreeAddress()
	i := &Interlock{hub: hub, Program: setup.Program("addon-manager"), logs: GinkgoT().TempDir(), address: free.String()}
	setup.Policies(ctx, hub.Client)
	secret, configMap := &corev1.Secret{}, &corev1.ConfigMap{}
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	read("hub/webhook-secret.yaml", secret)
	read("hub/webhook-ca-configmap.yaml", configMap)
	read("hub/webhook-configuration.yaml", validating)
	read("lifecycle/webhook-configuration.yaml", mutating)
	secret.Namespace, configMap.Namespace = Namespace, Namespace
	port := ptr.To(int32(free.Port))
	for one := range validating.Webhooks {
		validating.Webhooks[one].ClientConfig.Service.Port = port
	}
	for one := range mutating.Webhooks {
		mutating.Webhooks[one].ClientConfig.Service.Port = port
	}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}, secret, configMap, validating, mutating,
		&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "interlock-webhook"},
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
		},
	} {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	i.ManagerUser = i.userWith(ctx, "addon-manager", "hub/role.yaml", testenv.ManagerRoles...)
	i.webhookUser = i.userWith(ctx, "webhook", "hub/webhook-role.yaml", "webhook-clusterrole.yaml")
	return i
}

func read(file string, into any) {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join(folder, file))
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.Unmarshal(content, into)).To(Succeed())
}

// userWith is a new user of the hub with the name of a service account, and with roles of deploy.
func (i *Interlock) userWith(ctx context.Context, name, roleFile string, clusterRoleFiles ...string) *testenv.User {
	GinkgoHelper()
	account := "system:serviceaccount:" + Namespace + ":interlock-" + name
	user, err := i.hub.AddUser(account)
	Expect(err).NotTo(HaveOccurred())
	clusterRole, err := testenv.ClusterRole(folder+"/hub", clusterRoleFiles...)
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.Role{}
	read(roleFile, role)
	role.Namespace = Namespace
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: account}}
	for _, object := range []client.Object{
		clusterRole, role,
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: clusterRole.Name}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole.Name},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: role.Name}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		},
	} {
		Expect(i.hub.Client.Create(ctx, object)).To(Succeed())
	}
	return user
}

// Running is a process of Interlock.
type Running struct {
	*process.Process
	// Log is the file with all that it prints.
	Log string
}

// Printed reports whether it has printed a text.
func (r *Running) Printed(what string) (bool, error) {
	content, err := os.ReadFile(r.Log)
	if err != nil {
		return false, err
	}
	return ContainSubstring(what).Match(string(content))
}

// Manage starts a replica of addon-manager.
func (i *Interlock) Manage(flags ...string) *Running {
	GinkgoHelper()
	return i.start("addon-manager", append([]string{
		"--kubeconfig", i.ManagerUser.Kubeconfig, "--leader-elect-namespace", Namespace,
		"--metrics-bind-address=0", "--health-probe-bind-address=0",
	}, flags...)...)
}

// Serve starts addon-manager webhook.
func (i *Interlock) Serve(flags ...string) *Running {
	GinkgoHelper()
	return i.start("webhook", append([]string{
		"webhook", "--kubeconfig", i.webhookUser.Kubeconfig, "--namespace", Namespace, "--protection=off",
		"--webhook-bind-address", i.address, "--metrics-bind-address=0", "--health-probe-bind-address=0",
	}, flags...)...)
}

func (i *Interlock) start(name string, flags ...string) *Running {
	GinkgoHelper()
	i.starts++
	log := filepath.Join(i.logs, fmt.Sprintf("%s-%d.log", name, i.starts))
	started, err := process.Start(i.Program, log, flags...)
	Expect(err).NotTo(HaveOccurred())
	return &Running{Process: started, Log: log}
}
