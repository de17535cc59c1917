package coexistence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	namespace = "interlock-system"
	account   = "system:serviceaccount:" + namespace + ":interlock-"
)

// binary has the paths of Interlock's programs.
var binary struct{ manager, agent string }

var (
	logs    string
	manager *process.Process
	// starts counts the starts of addon-manager.
	starts int
	// managerUser has the permissions of deploy/hub.
	managerUser *testenv.User
)

// installInterlock creates the objects of deploy/hub, and starts the webhook.
func installInterlock(ctx context.Context) {
	GinkgoHelper()
	logs = GinkgoT().TempDir()
	crd := &unstructured.Unstructured{}
	setup.Read("hub/managedclusterfacts-crd.yaml", &crd.Object)
	Expect(hub.Client.Create(ctx, crd)).To(Succeed())
	Expect(apiextensionsv1.AddToScheme(hub.Client.Scheme())).To(Succeed())
	Expect(hub.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
	managerUser = setup.Manager.User(ctx, hub.Cluster, hub.Client, namespace, account+"addon-manager")
	serveWebhook(ctx)
}

// serveWebhook runs addon-manager webhook. Its Service is a name of the loopback interface.
func serveWebhook(ctx context.Context) {
	GinkgoHelper()
	free := testenv.FreeAddress()
	address := free.String()
	port := int64(free.Port)

	secret, configuration := &corev1.Secret{}, &admissionregistrationv1.ValidatingWebhookConfiguration{}
	configMap := &corev1.ConfigMap{}
	setup.Read("hub/webhook-secret.yaml", secret)
	setup.Read("hub/webhook-ca-configmap.yaml", configMap)
	setup.Read("hub/webhook-configuration.yaml", configuration)
	secret.Namespace, configMap.Namespace = namespace, namespace
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig.Service.Port = ptr.To(int32(port))
	}
	for _, object := range []client.Object{secret, configMap, configuration, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-webhook"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}} {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	user := setup.Webhook.User(ctx, hub.Cluster, hub.Client, namespace, account+"webhook")
	webhook, err := process.Start(binary.manager, filepath.Join(logs, "webhook.log"), "webhook", "--kubeconfig", user.Kubeconfig,
		"--namespace", namespace, "--webhook-bind-address", address, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(webhook.Kill)
}

// restartManager runs addon-manager with another form of the guard.
func restartManager(ctx context.Context, guard string) {
	GinkgoHelper()
	if manager != nil {
		Expect(manager.Stop(ctx)).To(Succeed())
	}
	starts++
	log, start := filepath.Join(logs, fmt.Sprintf("addon-manager-%d-%s.log", starts, guard)), time.Now().Truncate(time.Second)
	var err error
	manager, err = process.Start(binary.manager, log, "--kubeconfig", managerUser.Kubeconfig,
		"--guard", guard, "--leader-elect-namespace", namespace, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	Expect(err).NotTo(HaveOccurred())
	if guard != "off" {
		Eventually(func() ([]byte, error) { return os.ReadFile(log) }).Should(ContainSubstring("Guard is in force"))
	}
	expectGuard(ctx, guard != "off")
	if withDependency {
		expectEvents(ctx, start)
	}
}

// expectEvents waits for the events that addon-manager emits once after its start: the dependency of each registration is not
// registered.
func expectEvents(ctx context.Context, start time.Time) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var events corev1.EventList
		g.Expect(hub.Client.List(ctx, &events, client.InNamespace(metav1.NamespaceDefault))).To(Succeed())
		emitted := map[string]bool{}
		for _, event := range events.Items {
			if !event.CreationTimestamp.Time.Before(start) {
				emitted[event.InvolvedObject.Name] = true
			}
		}
		for _, c := range dependents() {
			g.Expect(emitted).To(HaveKey(c.name()))
		}
	}).Should(Succeed())
}

// expectGuard waits until the API server applies the guard, or no longer applies it. It sends a dry run that sets Available to True
// beside a failing
// Required dependency.
func expectGuard(ctx context.Context, inForce bool) {
	GinkgoHelper()
	status := metav1.ConditionTrue
	if inForce {
		status = metav1.ConditionFalse
	}
	Eventually(func(g Gomega) {
		addOn := sites[1].addOn(cases[0].name())
		g.Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
		transition := metav1.Now()
		addOn.Status.Conditions = []metav1.Condition{
			{Type: "Available", Status: metav1.ConditionTrue, Reason: "Probe", LastTransitionTime: transition},
			{Type: "Degraded", Status: metav1.ConditionTrue, Reason: dependencyFails.reason, LastTransitionTime: transition},
		}
		g.Expect(hub.Client.Status().Update(ctx, addOn, client.DryRunAll)).To(Succeed())
		g.Expect(addOn.Status.Conditions[0].Status).To(Equal(status))
	}).Should(Succeed())
}

// unguardedWrites explains a failure with the number of writes that the API server let pass because the guard's webhook did not respond
// within its second, as on a busy machine.
func unguardedWrites(ctx context.Context) string {
	GinkgoHelper()
	clients, err := kubernetes.NewForConfig(hub.Config)
	Expect(err).NotTo(HaveOccurred())
	page, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	Expect(err).NotTo(HaveOccurred())
	sum := 0.0
	for _, metric := range families["apiserver_admission_webhook_fail_open_count"].GetMetric() {
		sum += metric.GetCounter().GetValue()
	}
	return fmt.Sprintf("%v writes passed the guard's webhook without a response since the start", sum)
}

// stopInterlock stops addon-manager, all running agents, and the authors' managers.
func stopInterlock() error {
	stopAuthors()
	var failures []error
	if manager != nil {
		failures = append(failures, manager.Kill())
	}
	for _, s := range sites {
		if s.agent != nil {
			failures = append(failures, s.agent.Kill())
		}
	}
	return errors.Join(failures...)
}

// agentUser has the kubeconfigs of an addon-agent.
type agentUser struct{ hub, managed string }

// admitAgent gives addon-agent its permissions on the hub and on its cluster.
func (s *site) admitAgent(ctx context.Context) {
	GinkgoHelper()
	name := "system:open-cluster-management:cluster:" + s.name + ":addon:interlock-agent:agent:interlock-agent"
	onHub, err := hub.AddUser(name)
	Expect(err).NotTo(HaveOccurred())
	onManaged, err := s.cluster.AddUser("addon-agent")
	Expect(err).NotTo(HaveOccurred())
	role, clusterRole := &rbacv1.Role{}, &rbacv1.ClusterRole{}
	setup.Read("agent/hub-role.yaml", role)
	setup.Read("agent/managed-clusterrole.yaml", clusterRole)
	role.Namespace = s.name
	subject := func(name string) []rbacv1.Subject {
		return []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}
	}
	Expect(errors.Join(
		hub.Client.Create(ctx, role),
		hub.Client.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: role.Name}, Subjects: subject(name),
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		}),
		s.cluster.Client.Create(ctx, clusterRole),
		s.cluster.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: clusterRole.Name}, Subjects: subject("addon-agent"),
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole.Name},
		}))).To(Succeed())
	s.user = agentUser{onHub.Kubeconfig, onManaged.Kubeconfig}
}

func startAgent(_ context.Context, s *site) (err error) {
	s.agent, err = process.Start(binary.agent, filepath.Join(logs, s.name+"-addon-agent.log"), "--cluster-name", s.name,
		"--hub-kubeconfig", s.user.hub, "--kubeconfig", s.user.managed, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	return err
}

func stopAgent(ctx context.Context, s *site) error {
	stopping := s.agent
	s.agent = nil
	bounded, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	return stopping.Stop(bounded)
}
