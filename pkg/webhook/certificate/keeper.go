// Package certificate makes and renews the serving certificate of the webhooks
// and its CA. It stores both in one Secret for all replicas, and writes the CA to
// the webhook's configuration, so that the API server trusts the certificate.
package certificate

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const fieldOwner = client.FieldOwner("interlock-webhook")

// Keeper keeps the Secret and the webhook's configuration current, and serves the
// certificate. It runs in every replica. Where two replicas write at once, one write is a conflict, and that
// replica then uses the certificate of the other.
type Keeper struct {
	client client.Client
	clock  clock.PassiveClock
	secret types.NamespacedName
	// configuration names the ValidatingWebhookConfiguration and the
	// MutatingWebhookConfiguration.
	configuration string
	// name is the DNS name of the server.
	name      string
	lifetimes Lifetimes
	injected  map[string]time.Time // by kind

	current   atomic.Pointer[tls.Certificate]
	once      sync.Once
	certified chan struct{}
}

// NewKeeper returns a Keeper of an existing Secret and a webhook's configuration, for
// a server of that DNS name.
func NewKeeper(now clock.PassiveClock, secret types.NamespacedName, configuration, name string, lifetimes Lifetimes) *Keeper {
	return &Keeper{clock: now, secret: secret, configuration: configuration, name: name, lifetimes: lifetimes, injected: map[string]time.Time{}, certified: make(chan struct{})}
}

// SetupWithManager lets the manager run the keeper on every replica. The manager's
// cache has no other Secret, and no other webhook's configuration.
func (k *Keeper) SetupWithManager(mgr ctrl.Manager) error {
	k.client = mgr.GetClient()
	both := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: k.secret}}
	})
	err := ctrl.NewControllerManagedBy(mgr).Named("certificate").
		For(&corev1.Secret{}).Watches(&admissionregistrationv1.ValidatingWebhookConfiguration{}, both).
		Watches(&admissionregistrationv1.MutatingWebhookConfiguration{}, both).
		WithOptions(controller.Options{NeedLeaderElection: ptr.To(false), SkipNameValidation: ptr.To(true)}).Complete(k)
	if err != nil {
		return fmt.Errorf("set up the keeper of the certificate: %w", err)
	}
	return nil
}

// Certified is closed once there is a certificate to serve.
func (k *Keeper) Certified() <-chan struct{} { return k.certified }

// Serving returns the certificate for a TLS handshake.
func (k *Keeper) Serving(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if current := k.current.Load(); current != nil {
		return current, nil
	}
	return nil, errors.New("there is no certificate yet")
}

// Reconcile implements reconcile.Reconciler.
func (k *Keeper) Reconcile(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
	var secret corev1.Secret
	if err := k.client.Get(ctx, k.secret, &secret); err != nil {
		if current := k.current.Load(); current != nil && apierrors.IsNotFound(err) {
			log.FromContext(ctx).Error(err, "The Secret with the certificate was deleted. This process serves the old certificate until it expires. "+
				"Apply the empty Secret of the deployment again, and a new certificate is made", "secret", k.secret, "expires", current.Leaf.NotAfter)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	k.serve(secret.Data)
	renewed := secret.DeepCopy()
	steps, wait, err := k.renew(renewed)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(steps) > 0 {
		if err := k.client.Update(ctx, renewed, fieldOwner); apierrors.IsConflict(err) { // another replica was first
			return ctrl.Result{RequeueAfter: time.Second}, nil
		} else if err != nil {
			return ctrl.Result{}, fmt.Errorf("write Secret %s: %w", k.secret, err)
		}
		log.FromContext(ctx).Info("Renewed the certificates of the webhook", "secret", k.secret, "steps", steps)
		k.serve(renewed.Data)
	}
	again, err := k.inject(ctx, renewed.Data[BundleKey])
	return ctrl.Result{RequeueAfter: cmp.Or(again, wait)}, err
}

// renew takes all steps that are due, and returns when the next one is.
func (k *Keeper) renew(secret *corev1.Secret) (steps []step, wait time.Duration, err error) {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	now := k.clock.Now()
	for {
		content := read(secret.Data, k.name, now)
		next, wait := k.lifetimes.plan(content, now)
		if next == rest {
			return steps, wait, nil
		}
		if err := k.lifetimes.do(next, content, secret.Data, k.name, now); err != nil {
			return nil, 0, err
		}
		steps = append(steps, next)
	}
}

// serve uses the stored certificate. An invalid pair of certificate and key leaves
// the former one in use.
func (k *Keeper) serve(data map[string][]byte) {
	pair, err := tls.X509KeyPair(data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return
	}
	k.current.Store(&pair)
	k.once.Do(func() { close(k.certified) })
}

// writeInterval bounds how often a replica injects where another writer insists on
// another CA, such as a cert-manager whose annotation was left in place.
const writeInterval = time.Second

// inject writes the bundle to all webhooks that have another. It returns when to try
// again, zero for never.
func (k *Keeper) inject(ctx context.Context, bundle []byte) (again time.Duration, err error) {
	validating, mutating := &admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := k.read(ctx, validating, mutating); err != nil {
		return 0, err
	}
	var validators, mutators []*admissionregistrationv1.WebhookClientConfig
	for i := range validating.Webhooks {
		validators = append(validators, &validating.Webhooks[i].ClientConfig)
	}
	for i := range mutating.Webhooks {
		mutators = append(mutators, &mutating.Webhooks[i].ClientConfig)
	}
	first, err := k.write(ctx, "ValidatingWebhookConfiguration", validating, validators, bundle)
	second, other := k.write(ctx, "MutatingWebhookConfiguration", mutating, mutators, bundle)
	return max(first, second), errors.Join(err, other)
}

// read reads the configurations. Absent ones have no webhooks.
func (k *Keeper) read(ctx context.Context, configurations ...client.Object) error {
	for _, configuration := range configurations {
		if err := k.client.Get(ctx, types.NamespacedName{Name: k.configuration}, configuration); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// write writes the bundle to the webhooks of one configuration.
func (k *Keeper) write(ctx context.Context, kind string, configuration client.Object,
	webhooks []*admissionregistrationv1.WebhookClientConfig, bundle []byte,
) (again time.Duration, err error) {
	changed := false
	for _, webhook := range webhooks {
		if !bytes.Equal(webhook.CABundle, bundle) {
			webhook.CABundle, changed = bundle, true
		}
	}
	if !changed {
		return 0, nil
	}
	now := k.clock.Now()
	if wait := k.injected[kind].Add(writeInterval).Sub(now); wait > 0 {
		return wait, nil
	}
	k.injected[kind] = now
	if err := k.client.Update(ctx, configuration, fieldOwner); err != nil && !apierrors.IsConflict(err) {
		return 0, fmt.Errorf("write the CA to %s %s: %w", kind, k.configuration, err)
	}
	return 0, nil // after a conflict, the other write triggers the next reconcile
}
