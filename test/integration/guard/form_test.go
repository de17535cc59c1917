package guard

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/test/testenv"
)

// form is a form of the guard, on an API server of its own.
type form struct {
	name    string
	cluster *testenv.Cluster
	client  client.WithWatch
	objects []*unstructured.Unstructured
	server  *server // nil for the policy, which runs in the API server
	// webhooks is the namespace of addon-manager webhook. It is empty if the webhook does not run.
	webhooks string
}

// arrive puts the guard in force until leave, or until the spec ends.
func (f *form) arrive(ctx context.Context) {
	GinkgoHelper()
	for _, object := range f.objects {
		Expect(f.client.Create(ctx, object.DeepCopy())).To(Succeed())
	}
	DeferCleanup(f.leave)
	f.awaitForce(ctx, true)
}

// leave removes the guard.
func (f *form) leave(ctx context.Context) {
	GinkgoHelper()
	for _, object := range f.objects {
		Expect(client.IgnoreNotFound(f.client.Delete(ctx, object.DeepCopy()))).To(Succeed())
	}
	f.awaitForce(ctx, false)
}

// awaitForce waits until the API server applies the guard, or no longer applies it. It observes both by watch, and reads policies again
// only every second. It may know the schema of one version before it knows the other.
func (f *form) awaitForce(ctx context.Context, force bool) {
	GinkgoHelper()
	probe := f.install(ctx)
	probe.write(ctx, viaStorage, withConditions(fails(missingBase)))
	expected := map[bool]string{true: "False", false: "True"}[force]
	Eventually(func(g Gomega) {
		for _, version := range []string{viaStorage, viaBeta} {
			object := probe.get(ctx, version)
			setConditions(object, fails(missingBase), availableTrue())
			g.Expect(f.client.Status().Update(ctx, object, client.DryRunAll)).To(Succeed())
			g.Expect(find(object, "Available")["status"]).To(Equal(expected))
		}
	}).Should(Succeed())
	Expect(probe.uninstall(ctx)).To(Succeed())
}

func policyObjects() []*unstructured.Unstructured {
	GinkgoHelper()
	objects, err := guard.Rule.Policy("v1beta1")
	Expect(err).NotTo(HaveOccurred())
	return objects
}

func webhookObjects(s *server) []*unstructured.Unstructured {
	GinkgoHelper()
	object, err := guard.Rule.Webhook(s.place())
	Expect(err).NotTo(HaveOccurred())
	return []*unstructured.Unstructured{object}
}

// configurationName is the configuration in which addon-manager finds the address of webhooks. It matches nothing.
const configurationName = "interlock-webhook"

// deployWebhook has addon-manager find the server, until the spec or suite ends.
func (f *form) deployWebhook(ctx context.Context, s *server) {
	GinkgoHelper()
	url := "https://" + s.address + "/validate"
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: configurationName},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "served.interlock.open-cluster-management.io", AdmissionReviewVersions: []string{"v1"},
			SideEffects:  ptr.To(admissionregistrationv1.SideEffectClassNone),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: s.bundle},
		}},
	}
	Expect(f.client.Create(ctx, configuration)).To(Succeed())
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(f.client.Delete(ctx, configuration)) })
}

// server serves the webhook on the loopback interface, always at one address.
type server struct {
	address     string
	certificate tls.Certificate
	bundle      []byte
	httpServer  *http.Server
}

func newServer() *server {
	GinkgoHelper()
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	Expect(err).NotTo(HaveOccurred())
	pair, err := tls.X509KeyPair(certificate, key)
	Expect(err).NotTo(HaveOccurred())
	return &server{address: "127.0.0.1:0", certificate: pair, bundle: certificate}
}

func (s *server) start() {
	GinkgoHelper()
	var listener net.Listener
	Eventually(func() (err error) {
		listener, err = net.Listen("tcp", s.address)
		return err
	}).Should(Succeed())
	s.address = listener.Addr().String()
	mux := http.NewServeMux()
	mux.Handle(guard.Path, guard.NewWebhook())
	s.httpServer = &http.Server{
		Handler: mux, ReadHeaderTimeout: 5 * time.Second,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{s.certificate}, MinVersion: tls.VersionTLS12},
	}
	go func(httpServer *http.Server) { _ = httpServer.ServeTLS(listener, "", "") }(s.httpServer)
}

// stop closes the address and every connection, as if all replicas were dead.
func (s *server) stop() {
	_ = s.httpServer.Close()
}

func (s *server) place() admissionregistrationv1.WebhookClientConfig {
	url := fmt.Sprintf("https://%s%s", s.address, guard.Path)
	return admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: s.bundle}
}
