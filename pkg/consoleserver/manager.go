// Package consoleserver assembles `addon-manager console`: the page of the fleet as a server on the hub. It reads the hub once for all
// viewers, with its own rights, and shows each viewer no more than the viewer's rights on the hub allow. It writes nothing.
package consoleserver

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"open-cluster-management.io/interlock/pkg/consoleserver/viewers"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/metricsserver"
	"open-cluster-management.io/interlock/pkg/kube/reviews"
	"open-cluster-management.io/interlock/pkg/kube/tlsconfig"
	"open-cluster-management.io/interlock/pkg/report/console"
)

// Options configure the console.
type Options struct {
	// Address is the address to serve the page on, as [host]:port.
	Address string
	// CertificateDir has tls.crt and tls.key. If it is empty, the console makes a certificate for itself.
	CertificateDir string
	// Hosts are the names under which browsers open the page, each with or without a port.
	Hosts []string
	// Namespace is the namespace of the lease of addon-manager.
	Namespace string
	// GroupBy is the label of managed clusters whose values are the groups.
	GroupBy string
	// ReviewInterval is how long a response of the API server about a viewer counts.
	ReviewInterval time.Duration
	MetricsAddress string
	// MetricsSecure serves metrics over TLS, to clients with the right to read them.
	MetricsSecure bool
	// TLS is the profile of all servers.
	TLS           tlsconfig.Profile
	HealthAddress string
}

// The rate limit of reviews, for all viewers together.
const (
	reviewsPerSecond = 500
	reviewsAtFirst   = 1000
)

// NewManager returns a manager that serves the console, ready to be started. There is no leader: every replica serves.
func NewManager(restConfig *rest.Config, options Options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(fleet.AddToScheme, clusterv1beta1.Install)
	if err := builder.AddToScheme(scheme); err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options(options.MetricsAddress, options.MetricsSecure, options.TLS),
		HealthProbeBindAddress: options.HealthAddress,
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	shown := console.NewFleet()
	handler, err := newHandler(mgr, shown, options)
	if err != nil {
		return nil, err
	}
	keeper, err := newKeeper(restConfig, scheme, shown, options)
	if err != nil {
		return nil, err
	}
	return mgr, errors.Join(
		mgr.Add(keeper), addServer(mgr, handler, options),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("fleet", func(*http.Request) error {
			if shown.Hub() == nil {
				return errors.New("the fleet has not been read yet")
			}
			return nil
		}),
	)
}

// newHandler returns the handler of the page.
func newHandler(mgr ctrl.Manager, shown *console.Fleet, options Options) (*console.Handler, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.QPS, config.Burst = reviewsPerSecond, reviewsAtFirst
	reviewer, err := reviews.New(config, mgr.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	admitted := viewers.New(viewers.Options{
		Reviewer: reviewer, Fleet: shown, Lifetime: options.ReviewInterval, Clock: clock.RealClock{},
		Metrics: viewers.NewMetrics(ctrlmetrics.Registry),
	})
	handler := console.NewHandler(admitted, hosts(options.Hosts).has)
	handler.Review = options.ReviewInterval
	logger := mgr.GetLogger().WithName("console")
	handler.LogFailure = func(err error) { logger.Error(err, "A request of a viewer failed") }
	viewers.RegisterGauges(ctrlmetrics.Registry, handler.Streams, admitted.Count)
	return handler, nil
}
