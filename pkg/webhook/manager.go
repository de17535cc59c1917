// Package webhook assembles `addon-manager webhook`: admission and conversion
// of ClusterManagementAddOns and the guard, served over TLS by every replica.
package webhook

import (
	"fmt"
	"net"
	"strconv"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/metricsserver"
	"open-cluster-management.io/interlock/pkg/webhook/admission"
	"open-cluster-management.io/interlock/pkg/webhook/certificate"
	"open-cluster-management.io/interlock/pkg/webhook/conversion"
	"open-cluster-management.io/interlock/pkg/webhook/guard"
)

// ConfigurationName names the ValidatingWebhookConfiguration of deploy/hub.
const ConfigurationName = "interlock-webhook"

// Options configure the webhook.
type Options struct {
	// Address to serve webhooks on, [host]:port.
	Address        string
	MetricsAddress string
	// MetricsSecure serves them over TLS, to those who may read them.
	MetricsSecure bool
	HealthAddress string
	// Namespace of the Service and of the Secret.
	Namespace string
	// Service is the name by which the API server reaches the webhook.
	Service string
	// Secret is the name of an existing Secret that keeps CA and certificate.
	Secret string
	// CertificateDir takes the serving certificate of this process.
	CertificateDir string
}

// NewManager returns a manager that serves the webhooks, ready to be started.
// No replica leads: each of them serves, and any of them renews certificates.
func NewManager(restConfig *rest.Config, options Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	webhookServer, err := newServer(options)
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cacheOptions(types.NamespacedName{Namespace: options.Namespace, Name: options.Secret}),
		Metrics:                metricsserver.Options(options.MetricsAddress, options.MetricsSecure),
		HealthProbeBindAddress: options.HealthAddress,
		WebhookServer:          webhookServer,
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	ready, err := setupCertificate(mgr, options)
	if err != nil {
		return nil, err
	}
	return mgr, setupServing(mgr, ready)
}

func newServer(options Options) (ctrlwebhook.Server, error) {
	host, text, err := net.SplitHostPort(options.Address)
	if err != nil {
		return nil, fmt.Errorf("address to serve webhooks on: %w", err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address to serve webhooks on: %w", err)
	}
	return ctrlwebhook.NewServer(ctrlwebhook.Options{Host: host, Port: int(port), CertDir: options.CertificateDir}), nil
}

// setupCertificate makes, renews and injects the certificate. The channel
// closes once the first one can be served.
func setupCertificate(mgr ctrl.Manager, options Options) (<-chan struct{}, error) {
	key := types.NamespacedName{Namespace: options.Namespace, Name: options.Secret}
	if err := (&certificate.Mirror{Reader: mgr.GetCache(), Key: key, Dir: options.CertificateDir}).SetupWithManager(mgr); err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	err := rotator.AddRotator(mgr, &rotator.CertRotator{
		SecretKey:      key,
		CertDir:        options.CertificateDir,
		CAName:         "interlock-webhook-ca",
		CAOrganization: "interlock",
		DNSName:        fmt.Sprintf("%s.%s.svc", options.Service, options.Namespace),
		IsReady:        ready,
		FieldOwner:     "interlock-webhook",
		Webhooks:       []rotator.WebhookInfo{{Name: ConfigurationName, Type: rotator.Validating}},
	})
	if err != nil {
		return nil, fmt.Errorf("set up certificates: %w", err)
	}
	return ready, nil
}

func setupServing(mgr ctrl.Manager, certified <-chan struct{}) error {
	serving := &starter{certified: certified, start: func() healthz.Checker {
		webhooks := mgr.GetWebhookServer() // the first call adds it to the manager, which starts it
		webhooks.Register(conversion.Path, conversion.NewHandler(mgr.GetLogger().WithName("conversion")))
		webhooks.Register(guard.Path, guard.NewWebhook())
		webhooks.Register(admission.Path, &ctrlwebhook.Admission{Handler: &admission.Validator{Reader: mgr.GetCache()}})
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
