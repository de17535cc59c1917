// Package webhook assembles `addon-manager webhook`: admission and conversion
// of ClusterManagementAddOns and the guard, served over TLS by every replica.
package webhook

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/metricsserver"
	"open-cluster-management.io/interlock/pkg/kube/tlsconfig"
	"open-cluster-management.io/interlock/pkg/webhook/certificate"
)

// Options configure the webhook.
type Options struct {
	// Address is the address to serve webhooks on, as [host]:port.
	Address        string
	MetricsAddress string
	// MetricsSecure serves metrics over TLS, to clients with the right to read them.
	MetricsSecure bool
	// TLS is the profile of all servers.
	TLS           tlsconfig.Profile
	HealthAddress string
	// StopAfter is how long the manager serves after its context ends.
	StopAfter time.Duration
	// Protection is the mode of protection for managed clusters for which no policy sets a mode.
	Protection dependencyv1alpha1.Protection
	// Lifecycle enables gates of new add-ons.
	Lifecycle bool
	// Namespace is the namespace of the Secret and the ConfigMap.
	Namespace string
	// ServerName is the DNS name by which the API server reaches the webhook.
	ServerName string
	// Certificates selects the component that makes the certificate.
	Certificates Certificates
	// Secret names an existing Secret for the CA and the certificate that Interlock makes.
	Secret string
	// CertificateDir has tls.crt and tls.key that another component makes.
	CertificateDir string
	// Lifetimes apply to certificates that Interlock makes.
	Lifetimes certificate.Lifetimes
}

// Certificates selects the component that makes the serving certificate and its CA.
type Certificates string

const (
	// CertificatesInterlock are made and renewed by the webhook.
	CertificatesInterlock Certificates = "interlock"
	// CertificatesFiles are read from a folder, and again when they change. The
	// component that makes them also writes the CA to the webhook configurations.
	CertificatesFiles Certificates = "files"
)

func (o Options) secret() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Secret}
}

// NewManager returns a manager that serves the webhooks, ready to be started.
// There is no leader: every replica serves, and any replica renews certificates.
func NewManager(restConfig *rest.Config, options Options) (ctrl.Manager, error) {
	restConfig = fleet.SkipUnread(restConfig)
	restConfig.QPS = -1 // the API server's priority and fairness limits us
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, fleet.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	keeper := certificate.NewKeeper(clock.RealClock{}, options.secret(), options.ServerName, options.Lifetimes)
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:                 scheme,
		Cache:                  cacheOptions(options.secret()),
		Metrics:                metricsserver.Options(options.MetricsAddress, options.MetricsSecure, options.TLS),
		HealthProbeBindAddress: options.HealthAddress,
		// It can deadlock at shutdown, see pkg/hub.
		Controller: config.Controller{UsePriorityQueue: ptr.To(false)},
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	filler := &cacheFiller{cache: mgr.GetCache()}
	if err := errors.Join(mgr.Add(filler), mgr.AddReadyzCheck("cache", filler.check)); err != nil {
		return nil, fmt.Errorf("fill the cache: %w", err)
	}
	drained := &draining{Manager: mgr, period: options.StopAfter}
	if options.Certificates == CertificatesFiles {
		return drained, setupServing(drained, options, nil)
	}
	if err := keeper.SetupWithManager(mgr); err != nil {
		return nil, err
	}
	return drained, setupServing(drained, options, keeper)
}

// setupServing serves the webhooks once the keeper has a certificate. Without a keeper,
// it serves them with the certificate in files.
func setupServing(mgr *draining, options Options, keeper *certificate.Keeper) error {
	server := &starter{secret: options.secret()}
	if keeper == nil {
		files, err := certwatcher.New(filepath.Join(options.CertificateDir, "tls.crt"), filepath.Join(options.CertificateDir, "tls.key"))
		if err != nil {
			return fmt.Errorf("read the certificate: %w", err)
		}
		if err := mgr.Add(files); err != nil {
			return fmt.Errorf("add the certificate: %w", err)
		}
		server.start = func() error { return serve(mgr, options, files.GetCertificate) }
	} else {
		server.certified = keeper.Certified()
		server.start = func() error { return serve(mgr, options, keeper.Serving) }
	}
	if err := mgr.Add(server); err != nil {
		return fmt.Errorf("add webhook server: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("add health probe: %w", err)
	}
	if err := mgr.AddReadyzCheck("serving", server.check); err != nil {
		return fmt.Errorf("add readiness probe: %w", err)
	}
	return nil
}
