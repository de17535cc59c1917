// Package certificate makes and renews the serving certificate of the webhooks
// and its CA. It stores both in one Secret for all replicas, and publishes the CA in a
// ConfigMap. From there pkg/hub/setup/webhookca takes it to the webhook configurations, so that
// the API server trusts the certificate.
package certificate

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/names"
)

const fieldOwner = client.FieldOwner("interlock-webhook")

// Keeper keeps the Secret and the ConfigMap current, and serves the certificate. It runs
// in every replica. If two replicas write at once, one write is a conflict, and that
// replica then uses the certificate of the other.
type Keeper struct {
	client client.Client
	clock  clock.PassiveClock
	secret types.NamespacedName
	// serverName is the DNS name of the server.
	serverName string
	lifetimes  Lifetimes
	// lastPublished is the time at which this replica last published the CA.
	lastPublished time.Time

	current   atomic.Pointer[tls.Certificate]
	certify   sync.Once
	certified chan struct{}
}

// NewKeeper returns a Keeper of an existing Secret, and of an existing ConfigMap beside
// it, for a server with a DNS name.
func NewKeeper(clock clock.PassiveClock, secret types.NamespacedName, serverName string, lifetimes Lifetimes) *Keeper {
	return &Keeper{clock: clock, secret: secret, serverName: serverName, lifetimes: lifetimes, certified: make(chan struct{})}
}

// SetupWithManager runs the keeper in every replica. The keeper reconciles each Secret
// and ConfigMap in the manager's cache, so the cache must have no others.
func (k *Keeper) SetupWithManager(mgr ctrl.Manager) error {
	k.client = mgr.GetClient()
	toSecret := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: k.secret}}
	})
	err := ctrl.NewControllerManagedBy(mgr).Named("certificate").
		For(&corev1.Secret{}).Watches(&corev1.ConfigMap{}, toSecret).
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
			log.FromContext(ctx).Error(err, "The Secret with the certificate was deleted. "+
				"This process serves the old certificate until it expires. "+
				"Apply the empty Secret of the deployment again, and a new certificate is made", "secret", k.secret, "expires", current.Leaf.NotAfter)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	k.serve(secret.Data)
	renewed := secret.DeepCopy()
	renewal, err := k.renew(renewed)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(renewal.steps) > 0 {
		if err := k.client.Update(ctx, renewed, fieldOwner); apierrors.IsConflict(err) { // another replica was first
			return ctrl.Result{RequeueAfter: time.Second}, nil
		} else if err != nil {
			return ctrl.Result{}, fmt.Errorf("write Secret %s: %w", k.secret, err)
		}
		log.FromContext(ctx).Info("Renewed the certificates of the webhook", "secret", k.secret, "steps", renewal.steps)
		k.serve(renewed.Data)
	}
	retry, err := k.publish(ctx, renewed.Data[BundleKey])
	return ctrl.Result{RequeueAfter: cmp.Or(retry, renewal.wait)}, err
}

// renewal has the steps that a renewal took, and the time until the next step is due.
type renewal struct {
	steps []step
	wait  time.Duration
}

// renew takes all steps that are due.
func (k *Keeper) renew(secret *corev1.Secret) (renewal, error) {
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	currentTime := k.clock.Now()
	var steps []step
	for {
		content := read(secret.Data, k.serverName, currentTime)
		next, wait := k.lifetimes.plan(content, currentTime)
		if next == rest {
			return renewal{steps, wait}, nil
		}
		if err := k.lifetimes.take(next, content, secret.Data, k.serverName, currentTime); err != nil {
			return renewal{}, err
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
	k.certify.Do(func() { close(k.certified) })
}

// publishInterval bounds how often a replica publishes while another writer keeps
// changing the ConfigMap.
const publishInterval = time.Second

// publish writes the certificates of the bundle to the ConfigMap, if it has others. It
// returns how long to wait before it has to be called again, or zero.
func (k *Keeper) publish(ctx context.Context, stored []byte) (time.Duration, error) {
	key := types.NamespacedName{Namespace: k.secret.Namespace, Name: names.WebhookCA}
	var published corev1.ConfigMap
	if err := k.client.Get(ctx, key, &published); err != nil {
		if apierrors.IsNotFound(err) {
			log.FromContext(ctx).Error(err, "Cannot publish the CA, without which the API server does not call the webhook. "+
				"Apply the empty ConfigMap of the deployment again", "configMap", key)
		}
		return 0, client.IgnoreNotFound(err)
	}
	authorities, err := cert.ParseCertsPEM(stored)
	if err != nil {
		return 0, fmt.Errorf("read the CA in Secret %s: %w", k.secret, err)
	}
	bundle := string(encode(authorities...))
	if published.Data[BundleKey] == bundle {
		return 0, nil
	}
	currentTime := k.clock.Now()
	if wait := k.lastPublished.Add(publishInterval).Sub(currentTime); wait > 0 {
		return wait, nil
	}
	k.lastPublished = currentTime
	published.Data = map[string]string{BundleKey: bundle}
	if err := k.client.Update(ctx, &published, fieldOwner); err != nil && !apierrors.IsConflict(err) {
		return 0, fmt.Errorf("publish the CA in ConfigMap %s: %w", key, err)
	}
	return 0, nil // after a conflict, the other write triggers the next reconcile
}
