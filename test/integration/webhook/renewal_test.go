package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/webhook"
	"open-cluster-management.io/interlock/pkg/webhook/certificate"
	"open-cluster-management.io/interlock/test/testenv"
)

// overlap is long enough for a slow machine to give a new authority to the API server.
const overlap = 5 * time.Second

// startReplica starts a replica in this process, and returns its address. It has the permissions of the user, but an overlap of less
// than a week.
func startReplica(user *testenv.User, secret string) string {
	GinkgoHelper()
	lifetimes := certificate.DefaultLifetimes()
	lifetimes.Overlap = overlap
	address := testenv.FreeAddress().String()
	mgr, err := webhook.NewManager(user.Config, webhook.Options{
		Address: address, MetricsAddress: "0", HealthAddress: "0", Namespace: namespace, ServerName: "localhost",
		Certificates: webhook.CertificatesInterlock, Secret: secret, Lifetimes: lifetimes,
	})
	Expect(err).NotTo(HaveOccurred())
	start(mgr)
	return address
}

func start(mgr ctrl.Manager) {
	ctx, cancel := context.WithCancel(context.Background())
	exit := make(chan error, 1)
	go func() { exit <- mgr.Start(ctx) }()
	DeferCleanup(func() error { cancel(); return <-exit })
}

// balance forwards connections to one replica after the other, as a Service does. It returns the URL.
func balance(replicas ...string) string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(listener.Close)
	var counter atomic.Int64
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return // closed
			}
			go forward(connection, replicas[int(counter.Add(1))%len(replicas)])
		}
	}()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	Expect(err).NotTo(HaveOccurred())
	return "https://localhost:" + port
}

func forward(incoming net.Conn, address string) {
	defer incoming.Close()
	outgoing, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer outgoing.Close()
	var group sync.WaitGroup
	for _, pair := range [][2]net.Conn{{incoming, outgoing}, {outgoing, incoming}} {
		group.Go(func() {
			_, _ = io.Copy(pair[0], pair[1]) // either side may close
			_ = pair[0].Close()
		})
	}
	group.Wait()
}

// servedCertificate returns the certificate that a replica serves.
func servedCertificate(address string) (*x509.Certificate, error) {
	connection, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // accepts any certificate
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	return connection.ConnectionState().PeerCertificates[0], nil
}

// storedCertificate returns the certificate of the Secret, and how many authorities are trusted.
func storedCertificate(ctx context.Context, secret *corev1.Secret) (*x509.Certificate, int, error) {
	if err := hubClient.Get(ctx, client.ObjectKeyFromObject(secret), secret); err != nil {
		return nil, 0, err
	}
	certificates, err := cert.ParseCertsPEM(secret.Data["tls.crt"])
	if err != nil {
		return nil, 0, err
	}
	authorities, err := cert.ParseCertsPEM(secret.Data[certificate.BundleKey])
	return certificates[0], len(authorities), err
}

// keepTrusting gives the CRD the authorities of the Secret, now and after each change, as addon-manager does.
func keepTrusting(ctx context.Context, key client.ObjectKey, url string) {
	GinkgoHelper()
	trustContext, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		defer GinkgoRecover()
		var trusted []byte
		for ticker := time.NewTicker(50 * time.Millisecond); trustContext.Err() == nil; <-ticker.C {
			var secret corev1.Secret
			err := hubClient.Get(trustContext, key, &secret)
			if trustContext.Err() != nil { // the spec ended meanwhile
				return
			}
			Expect(client.IgnoreNotFound(err)).To(Succeed())
			if bundle := secret.Data[certificate.BundleKey]; !bytes.Equal(trusted, bundle) {
				convertTrusting(ctx, url, bundle)
				trusted = bundle
			}
		}
	})
	DeferCleanup(func() { cancel(); group.Wait() })
}

var _ = Describe("Renewal", func() {
	It("of the certificate and of the CA fails no request, in two replicas that started together", func(ctx context.Context) {
		secret := deploySecret(ctx)
		deployConfigMap(ctx)
		lead(ctx, "leader-of-renewal")
		user := grant(ctx, "renewal")
		writes := watchSecret(ctx, secret)

		replicas := []string{startReplica(user, secret.Name), startReplica(user, secret.Name)}
		for _, address := range replicas {
			Eventually(func() error { _, err := servedCertificate(address); return err }).Should(Succeed())
		}
		certificate1, authorities, err := storedCertificate(ctx, secret)
		Expect(err).NotTo(HaveOccurred())
		Expect(authorities).To(Equal(1))
		Eventually(writes).Should(Equal(1))
		Consistently(writes).WithTimeout(time.Second).Should(Equal(1), "both replicas wrote the Secret")

		withoutHandlers(ctx)
		url := balance(replicas...)
		keepTrusting(ctx, client.ObjectKeyFromObject(secret), url)
		configuration := admitBy(ctx, endpoint.ConfigurationName, url, nil)
		DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, configuration) })
		awaitAdmission(ctx)
		convertBy(ctx, url, secret.Data[certificate.BundleKey])
		requests := startTraffic(ctx, handshakes(ctx, replicas))

		By("renewing the certificate under the same CA")
		Expect(hubClient.Patch(ctx, secret, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"tls.crt":null}}`)))).To(Succeed())
		certificate2 := awaitRenewal(ctx, secret, replicas, certificate1)

		By("renewing the CA")
		Expect(hubClient.Patch(ctx, secret, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"ca.key":null}}`)))).To(Succeed())
		Eventually(func() (int, error) { _, authorities, err := storedCertificate(ctx, secret); return authorities, err }).Should(Equal(2))
		Eventually(func() ([]byte, error) { return injectedCA(ctx) }).Should(Equal(secret.Data[certificate.BundleKey]))
		awaitRenewal(ctx, secret, replicas, certificate2)
		Eventually(func() (int, error) { _, authorities, err := storedCertificate(ctx, secret); return authorities, err }).Should(Equal(1))
		Eventually(func() ([]byte, error) { return injectedCA(ctx) }).Should(Equal(secret.Data[certificate.BundleKey]))
		Eventually(func() ([]byte, error) { return trustedByCRD(ctx) }).Should(Equal(secret.Data[certificate.BundleKey]))
		Expect(readBusy(ctx)).To(Succeed())
		requests.expectNoFailures()
	})
})

// awaitRenewal waits until all replicas serve another certificate than the old one, and returns it.
func awaitRenewal(ctx context.Context, secret *corev1.Secret, replicas []string, oldCertificate *x509.Certificate) *x509.Certificate {
	GinkgoHelper()
	var current *x509.Certificate
	Eventually(func(g Gomega) {
		var err error
		current, _, err = storedCertificate(ctx, secret)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(current.Equal(oldCertificate)).To(BeFalse(), "not renewed")
		for _, address := range replicas {
			g.Expect(servedCertificate(address)).To(Satisfy(current.Equal), "not served yet")
		}
	}).WithTimeout(60 * time.Second).Should(Succeed())
	return current
}

// handshakes returns requests to each replica, each on a connection of its own. Its client trusts the authorities of the configuration.
func handshakes(ctx context.Context, replicas []string) map[string]func() error {
	requests := map[string]func() error{}
	for i, address := range replicas {
		requests[fmt.Sprint("handshake ", i)] = func() error {
			authority, err := injectedCA(ctx)
			if err != nil {
				return err
			}
			return convert(address, "localhost", authority)
		}
	}
	return requests
}

func trustedByCRD(ctx context.Context) ([]byte, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	err := hubClient.Get(ctx, client.ObjectKey{Name: crdName}, &crd)
	return crd.Spec.Conversion.Webhook.ClientConfig.CABundle, err
}

// watchSecret counts how often the Secret is written from now on.
func watchSecret(ctx context.Context, secret *corev1.Secret) func() int {
	GinkgoHelper()
	watchClient, err := client.NewWithWatch(hub.Config, client.Options{Scheme: hubClient.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	events, err := watchClient.Watch(ctx, &corev1.SecretList{}, client.InNamespace(secret.Namespace),
		client.MatchingFields{"metadata.name": secret.Name}, &client.ListOptions{Raw: &metav1.ListOptions{
			ResourceVersion: secret.ResourceVersion,
		}})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(events.Stop)
	var count atomic.Int64
	go func() {
		for range events.ResultChan() {
			count.Add(1)
		}
	}()
	return func() int { return int(count.Load()) }
}
