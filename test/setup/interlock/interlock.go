// Package interlock runs Interlock on a hub of real OCM for a suite: addon-manager and addon-manager webhook as
// processes, with the objects of deploy/hub and deploy/lifecycle. They have exactly the rights that these objects
// give.
package interlock

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// Namespace is the namespace of Interlock.
const Namespace = "interlock-system"

// account is the prefix of the names of Interlock's service accounts.
const account = "system:serviceaccount:" + Namespace + ":interlock-"

// Interlock is a deployment of Interlock. Its processes end with the suite.
type Interlock struct {
	hub *ocm.Hub
	// Program is the path of addon-manager.
	Program string
	logs    string
	// address is the address at which the API server calls the webhook.
	address *net.TCPAddr
	// ManagerUser has the rights of addon-manager.
	ManagerUser, webhookUser *testenv.User
	// starts counts processes, for the names of their logs.
	starts int
}

// Deploy creates the objects of deploy/hub and deploy/lifecycle, except Deployments.
func Deploy(ctx context.Context, hub *ocm.Hub) *Interlock {
	GinkgoHelper()
	i := newInterlock(ctx, hub)
	i.deployManager(ctx)
	i.deployWebhook(ctx)
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	setup.Read("lifecycle/webhook-configuration.yaml", configuration)
	for index := range configuration.Webhooks {
		configuration.Webhooks[index].ClientConfig.Service.Port = i.port()
	}
	Expect(hub.Client.Create(ctx, configuration)).To(Succeed())
	return i
}

// DeployManager creates the objects of deploy/hub and deploy/lifecycle that addon-manager needs.
func DeployManager(ctx context.Context, hub *ocm.Hub) *Interlock {
	GinkgoHelper()
	i := newInterlock(ctx, hub)
	i.deployManager(ctx)
	return i
}

// DeployWebhook creates the objects of deploy/hub that addon-manager webhook needs.
func DeployWebhook(ctx context.Context, hub *ocm.Hub) *Interlock {
	GinkgoHelper()
	i := newInterlock(ctx, hub)
	i.deployWebhook(ctx)
	return i
}

func newInterlock(ctx context.Context, hub *ocm.Hub) *Interlock {
	GinkgoHelper()
	Expect(hub.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}})).To(Succeed())
	return &Interlock{hub: hub, Program: setup.Program("addon-manager"), logs: GinkgoT().TempDir()}
}

func (i *Interlock) deployManager(ctx context.Context) {
	GinkgoHelper()
	setup.Policies(ctx, i.hub.Client)
	i.ManagerUser = setup.Manager.User(ctx, i.hub.Cluster, i.hub.Client, Namespace, account+"addon-manager")
}

// deployWebhook makes the Service of the webhook a name of the loopback interface.
func (i *Interlock) deployWebhook(ctx context.Context) {
	GinkgoHelper()
	i.address = testenv.FreeAddress()
	secret, configMap := &corev1.Secret{}, &corev1.ConfigMap{}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	setup.Read("hub/webhook-secret.yaml", secret)
	setup.Read("hub/webhook-ca-configmap.yaml", configMap)
	setup.Read("hub/webhook-configuration.yaml", configuration)
	secret.Namespace, configMap.Namespace = Namespace, Namespace
	for index := range configuration.Webhooks {
		configuration.Webhooks[index].ClientConfig.Service.Port = i.port()
	}
	for _, object := range []client.Object{secret, configMap, configuration, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: names.Webhook},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}} {
		Expect(i.hub.Client.Create(ctx, object)).To(Succeed())
	}
	i.webhookUser = setup.Webhook.User(ctx, i.hub.Cluster, i.hub.Client, Namespace, account+"webhook")
}

func (i *Interlock) port() *int32 { return ptr.To(int32(i.address.Port)) }

// Trust makes the API server trust the webhook, in suites without addon-manager, which otherwise configures the trust.
func (i *Interlock) Trust(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		configMap := &corev1.ConfigMap{}
		g.Expect(i.hub.Client.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: names.WebhookCA}, configMap)).To(Succeed())
		g.Expect(configMap.Data).To(HaveKeyWithValue("ca.crt", Not(BeEmpty())))
		configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		g.Expect(i.hub.Client.Get(ctx, client.ObjectKey{Name: names.Webhook}, configuration)).To(Succeed())
		for index := range configuration.Webhooks {
			configuration.Webhooks[index].ClientConfig.CABundle = []byte(configMap.Data["ca.crt"])
		}
		g.Expect(i.hub.Client.Update(ctx, configuration)).To(Succeed())
	}).Should(Succeed())
}

// Running is a process of Interlock.
type Running struct {
	*process.Process
	// Log is the file with all its output.
	Log string
}

// Printed reports whether the process has printed a text.
func (r *Running) Printed(text string) (bool, error) {
	content, err := os.ReadFile(r.Log)
	if err != nil {
		return false, err
	}
	return ContainSubstring(text).Match(string(content))
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
		"--webhook-bind-address", i.address.String(), "--metrics-bind-address=0", "--health-probe-bind-address=0",
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
