// Package webhook assembles `addon-manager webhook`: admission and conversion
// of ClusterManagementAddOns and the guard, served over TLS by every replica.
package webhook

import (
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/conversion"
	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/metricsserver"
	"open-cluster-management.io/interlock/pkg/webhook/admission"
	"open-cluster-management.io/interlock/pkg/webhook/certificate"
)

// ConfigurationName names both webhook configurations of deploy/hub.
const ConfigurationName = endpoint.ConfigurationName

// Options configure the webhook.
type Options struct {
	// Address to serve webhooks on, [host]:port.
	Address        string
	MetricsAddress string
	// MetricsSecure serves metrics over TLS, to clients with the right to read them.
	MetricsSecure bool
	HealthAddress string
	// StopAfter is how long it serves after its context ends.
	StopAfter time.Duration
	// Namespace of the Secret.
	Namespace string
	// ServerName is the DNS name by which the API server reaches the webhook.
	ServerName string
	// Certificates says which component makes the certificate.
	Certificates Certificates
	// Secret names an existing Secret for CA and certificate, where Interlock
	// makes them.
	Secret string
	// CertificateDir has tls.crt and tls.key, where another component makes them.
	CertificateDir string
	// Lifetimes are those of certificates that Interlock makes.
	Lifetimes certificate.Lifetimes
}

// Certificates says which component makes the serving certificate and its CA.
type Certificates string

const (
	// CertificatesInterlock are made and renewed by the webhook.
	CertificatesInterlock Certificates = "interlock"
	// CertificatesFiles are read from a folder, and again when they change. The
	// component that makes them also writes the CA to the webhook's configuration.
	CertificatesFiles Certificates = "files"
)

func (o Options) secret() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Secret}
}

// NewManager returns a manager that serves the webhooks, ready to be started.
// There is no leader: every replica serves, and any replica renews certificates.
func NewManager(restConfig *rest.Config, options Options) (ctrl.Manager, error) {
	restConfig = rest.CopyConfig(restConfig)
	restConfig.QPS = -1 // the API server's priority and fairness limits us
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	keeper := certificate.NewKeeper(clock.RealClock{}, options.secret(), ConfigurationName, options.ServerName, options.Lifetimes)
	webhookServer, err := newServer(options, keeper)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cacheOptions(options.secret()),
		Metrics:                metricsserver.Options(options.MetricsAddress, options.MetricsSecure),
		HealthProbeBindAddress: options.HealthAddress,
		WebhookServer:          webhookServer,
		// It can deadlock at shutdown, see pkg/hub.
		Controller: config.Controller{UsePriorityQueue: ptr.To(false)},
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	certified, err := setupCertificate(mgr, options, keeper)
	if err != nil {
		return nil, err
	}
	served := &draining{Manager: mgr, after: options.StopAfter}
	return served, setupServing(served, options, certified)
}

func newServer(options Options, keeper *certificate.Keeper) (ctrlwebhook.Server, error) {
	host, text, err := net.SplitHostPort(options.Address)
	if err != nil {
		return nil, fmt.Errorf("address to serve webhooks on: %w", err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address to serve webhooks on: %w", err)
	}
	serving := ctrlwebhook.Options{Host: host, Port: int(port), CertDir: options.CertificateDir}
	if options.Certificates == CertificatesInterlock {
		serving.TLSOpts = []func(*tls.Config){func(config *tls.Config) { config.GetCertificate = keeper.Serving }}
	}
	return ctrlwebhook.NewServer(serving), nil
}

// setupCertificate sets up the controller that makes, renews and injects the
// certificate, where Interlock does so. The channel closes once there is one.
func setupCertificate(mgr ctrl.Manager, options Options, keeper *certificate.Keeper) (<-chan struct{}, error) {
	if options.Certificates == CertificatesFiles {
		certified := make(chan struct{})
		close(certified)
		return certified, nil
	}
	return keeper.Certified(), keeper.SetupWithManager(mgr)
}

func setupServing(mgr *draining, options Options, certified <-chan struct{}) error {
	serving := &starter{certified: certified, secret: options.secret(), start: func() healthz.Checker {
		webhooks := mgr.GetWebhookServer() // the first call adds the server to the manager, which starts it
		webhooks.Register(conversion.Path, mgr.closing(conversion.NewHandler(mgr.GetLogger().WithName("conversion"))))
		webhooks.Register(guard.Path, mgr.closing(guard.NewWebhook()))
		webhooks.Register(admission.Path, mgr.closing(&ctrlwebhook.Admission{Handler: &admission.Validator{Reader: mgr.GetAPIReader()}}))
		webhooks.Register(admission.RecordPath, mgr.closing(&ctrlwebhook.Admission{
			Handler: &admission.Recorder{Reader: mgr.GetAPIReader(), Clock: clock.RealClock{}},
		}))
		return webhooks.StartedChecker()
	}}
	if err := mgr.Add(serving); err != nil {
		return fmt.Errorf("add webhook server: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add health probe: %w", err)
	}
	if err := mgr.AddReadyzCheck("serving", serving.check); err != nil {
		return fmt.Errorf("add readiness probe: %w", err)
	}
	return nil
}
