package webhook

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"
	ctrladmission "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"open-cluster-management.io/interlock/pkg/compat/conversion"
	"open-cluster-management.io/interlock/pkg/compat/gaterule"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text/rawjson"
	"open-cluster-management.io/interlock/pkg/webhook/admission"
	"open-cluster-management.io/interlock/pkg/webhook/gateclosing"
	"open-cluster-management.io/interlock/pkg/webhook/limits"
	"open-cluster-management.io/interlock/pkg/webhook/order"
	"open-cluster-management.io/interlock/pkg/webhook/protector"
)

const (
	// maxReview is the maximum size of a review. Like controller-runtime, it allows for two objects of 3 MiB each.
	maxReview = 7 << 20
	// maxGuarded is how many values a review of the guard may have, because the guard decodes all of them.
	maxGuarded = 100_000
)

// serve starts the server. The server of controller-runtime is not used, because it bounds
// neither bodies in flight nor connections nor the time of a request.
func serve(mgr *draining, options Options, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)) error {
	config := &tls.Config{GetCertificate: certificate}
	options.TLS.Apply(config)
	listener, err := net.Listen("tcp", options.Address)
	if err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	documents, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("create discovery client of the hub: %w", err)
	}
	hub := apidiscovery.API{REST: documents.RESTClient(), Client: "addon-manager webhook"}
	server := limits.NewServer(handlers(mgr, options, hub).WebhookMux(), mgr.GetLogger().WithName("webhook"))
	if err := mgr.Add(&manager.Server{
		Name: "webhook", Server: server, Listener: tls.NewListener(listener, config), ShutdownTimeout: ptr.To(10 * time.Second),
	}); err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	return nil
}

// handlers returns a server of controller-runtime with all handlers. The server counts
// their requests, and is never started.
func handlers(mgr *draining, options Options, hub apidiscovery.API) ctrlwebhook.Server {
	limit := limits.New(limits.Memory())
	webhooks := ctrlwebhook.NewServer(ctrlwebhook.Options{})
	register := func(path string, limited limits.Options, handler http.Handler) {
		webhooks.Register(path, mgr.closeConnections(limit.Handler(limited, handler)))
	}
	register(conversion.Path, limits.Options{InPlace: true}, conversion.NewHandler(mgr.GetLogger().WithName("conversion")))
	validator := admission.NewValidator(mgr.GetAPIReader(), mgr.GetCache())
	validator.Lifecycle = options.Lifecycle
	register(admission.Path, limits.Options{Bytes: maxReview, Check: admission.Check, Refuse: admission.Refuse},
		&ctrlwebhook.Admission{Handler: validator})
	register(admission.PolicyPath, limits.Options{Bytes: maxReview, Check: admission.Check, Refuse: admission.Refuse},
		&ctrlwebhook.Admission{Handler: &admission.PolicyValidator{Clock: clock.RealClock{}, Registered: mgr.GetCache()}})
	lifecycle := leadership.Lifecycle{
		Live: mgr.GetAPIReader(), Lease: types.NamespacedName{Namespace: options.Namespace, Name: names.AddonManager}, Clock: clock.RealClock{},
	}
	reviews := protector.Options{
		Live: mgr.GetAPIReader(), Cache: mgr.GetCache(), Clock: clock.RealClock{}, Recorder: mgr.GetEventRecorder(names.Webhook),
		Discovery: hub, Mode: options.Protection,
	}
	if options.Lifecycle {
		reviews.Lifecycle = lifecycle
	}
	validators := protector.New(reviews)
	for path, handler := range map[string]ctrladmission.Handler{
		protector.Path:             validators.AddOns,
		protector.RegistrationPath: validators.Registrations,
		protector.PlacementPath:    validators.Placements,
		protector.UpgradePath:      validators.Upgrades,
		protector.TemplatePath:     validators.Templates,
		protector.ClusterPath:      validators.Clusters,
	} {
		register(path, limits.Options{Bytes: maxReview, Check: admission.Check, Waits: true}, &ctrlwebhook.Admission{Handler: handler})
	}
	// These handlers must let a write pass. An error lets it pass, too, because their failure
	// policy is Ignore. The validator denies an object that is too large to be recorded.
	register(admission.RecordPath, limits.Options{Bytes: maxReview, Check: admission.Check},
		&ctrlwebhook.Admission{Handler: &admission.Recorder{Reader: mgr.GetAPIReader(), Clock: clock.RealClock{}}})
	register(guard.Path, limits.Options{Bytes: maxReview, Check: guardable}, guard.NewWebhook())
	register(gaterule.Path, limits.Options{Bytes: maxReview, Check: guardable}, gaterule.NewWebhook())
	if options.Lifecycle {
		register(gateclosing.Path, limits.Options{Bytes: maxReview, Check: admission.Check, Waits: true},
			&ctrlwebhook.Admission{Handler: &order.Preparer{
				Gate: &gateclosing.Closer{Fleet: validators.AddOns, Lifecycle: lifecycle}, Fleet: validators.AddOns, Lifecycle: lifecycle,
			}})
		register(gateclosing.UpgradePath, limits.Options{Bytes: maxReview, Check: guardable, Waits: true},
			&ctrlwebhook.Admission{Handler: &gateclosing.Holder{Clock: clock.RealClock{}, Fleet: validators.AddOns, Lifecycle: lifecycle}})
	}
	return webhooks
}

func guardable(review []byte) string {
	if values := rawjson.Count(review); values > maxGuarded {
		return fmt.Sprintf("the review has %d values: at most %d are read", values, maxGuarded)
	}
	return ""
}
