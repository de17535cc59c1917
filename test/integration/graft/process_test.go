package graft

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"github.com/prometheus/client_golang/prometheus"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	interlock "open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

// webhookAddress is the address of the webhook's replica, if it runs.
var webhookAddress string

var webhookUser *testenv.User

// deployWebhook creates all objects that the webhook needs. Its Service is a name of the loopback interface, where the process listens.
func deployWebhook(ctx context.Context) {
	GinkgoHelper()
	free := testenv.FreeAddress()
	webhookAddress = free.String()
	port := int64(free.Port)

	secret, configMap, service := &corev1.Secret{}, &corev1.ConfigMap{}, &corev1.Service{}
	setup.Read("hub/webhook-secret.yaml", secret)
	setup.Read("hub/webhook-ca-configmap.yaml", configMap)
	setup.Read("hub/webhook-service.yaml", service)
	secret.Namespace, configMap.Namespace, service.Namespace = namespace, namespace, namespace
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	setup.Read("hub/webhook-configuration.yaml", configuration)
	Expect(configuration.Name).To(Equal(endpoint.ConfigurationName))
	for i := range configuration.Webhooks {
		configuration.Webhooks[i].ClientConfig.Service.Port = ptr.To(int32(port))
	}
	recording := &admissionregistrationv1.MutatingWebhookConfiguration{}
	setup.Read("hub/webhook-record-configuration.yaml", recording)
	for i := range recording.Webhooks {
		recording.Webhooks[i].ClientConfig.Service.Port = ptr.To(int32(port))
	}
	for _, object := range []client.Object{secret, configMap, service, configuration, recording} {
		Expect(admin.Create(ctx, object)).To(Succeed())
	}
	webhookUser = userWith(ctx, setup.Webhook)
}

var users int

// userWith returns a new user with permissions of deploy/hub.
func userWith(ctx context.Context, rights setup.Rights) *testenv.User {
	GinkgoHelper()
	users++
	return rights.User(ctx, hub.Cluster, admin, namespace, fmt.Sprintf("user-%d", users))
}

// serveWebhook runs the only replica of addon-manager webhook until the returned function is called or the spec ends.
func serveWebhook() (kill func()) {
	GinkgoHelper()
	session, err := gexec.Start(exec.Command(binary, "webhook", "--kubeconfig", webhookUser.Kubeconfig, "--namespace", namespace,
		"--webhook-bind-address", webhookAddress, "--metrics-bind-address=0", "--health-probe-bind-address=0"), nil, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	kill = func() { session.Kill().Wait() }
	DeferCleanup(kill)
	return kill
}

// process is an addon-manager with the permissions of deploy/hub.
type process struct {
	registry *prometheus.Registry
	stop     func()
}

const grace = 5 * time.Second

// manage runs addon-manager until it is stopped or the spec ends.
func manage(ctx context.Context, enabled bool) *process {
	GinkgoHelper()
	p := &process{registry: prometheus.NewRegistry()}
	config := rest.CopyConfig(userWith(ctx, setup.Manager).Config)
	mgr, err := interlock.NewManager(config, interlock.Options{
		MetricsAddress: "0", HealthAddress: "0", Offline: evaluation.OfflineHold, Concurrency: 4, Registry: p.registry,
		WebhookNamespace: namespace,
		Graft:            &graft.Settings{Enabled: enabled, Grace: grace, Interval: 300 * time.Millisecond, WebhookAddress: webhookAddress},
	})
	Expect(err).NotTo(HaveOccurred())
	runContext, cancel := context.WithCancel(context.Background())
	exit := make(chan error, 1)
	go func() {
		exit <- mgr.Start(runContext)
		close(exit)
	}()
	p.stop = func() {
		cancel()
		Eventually(exit).Should(Or(Receive(BeNil()), BeClosed()))
	}
	DeferCleanup(p.stop)
	return p
}

// state returns the value of the metric of grafting by its reason.
func (p *process) state() map[string]float64 {
	GinkgoHelper()
	families, err := p.registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	state := map[string]float64{}
	for _, family := range families {
		if family.GetName() == graft.NameGrafted {
			for _, metric := range family.GetMetric() {
				state[metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
			}
		}
	}
	return state
}

func (p *process) contested() float64 {
	GinkgoHelper()
	families, err := p.registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() == graft.NameContested {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return -1
}

func metricState(reason graft.Reason, value float64) map[string]float64 {
	return map[string]float64{string(reason): value}
}

// eventsOn returns the reasons of all events on the CRD or an add-on.
func eventsOn(ctx context.Context, name string) func() ([]string, error) {
	return func() ([]string, error) {
		var events eventsv1.EventList
		err := admin.List(ctx, &events)
		var reasons []string
		for _, event := range events.Items {
			if event.Regarding.Name == name {
				reasons = append(reasons, event.Reason)
			}
		}
		return reasons, err
	}
}

// forgetEvents deletes all events, so that a spec sees only its own.
func forgetEvents(ctx context.Context) {
	GinkgoHelper()
	Expect(admin.DeleteAllOf(ctx, &eventsv1.Event{}, client.InNamespace(metav1.NamespaceDefault))).To(Succeed())
}
