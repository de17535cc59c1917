// Package certificate makes and renews the serving certificate of the webhooks
// and its CA. It stores both in one Secret for all replicas, and writes the CA to
// the webhook's configuration.
package certificate

import (
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
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const fieldOwner = client.FieldOwner("interlock-webhook")

// Keeper keeps the Secret current and serves its certificate. It runs in every
// replica. Where two replicas write at once, one write is a conflict, and that
// replica then uses the certificate of the other.
type Keeper struct {
	client client.Client
	clock  clock.PassiveClock
	secret types.NamespacedName
	// name is the DNS name of the server.
	name      string
	lifetimes Lifetimes

	current   atomic.Pointer[tls.Certificate]
	once      sync.Once
	certified chan struct{}
}

// NewKeeper returns a Keeper of an existing Secret, for a server of that DNS name.
func NewKeeper(now clock.PassiveClock, secret types.NamespacedName, name string, lifetimes Lifetimes) *Keeper {
	return &Keeper{clock: now, secret: secret, name: name, lifetimes: lifetimes, certified: make(chan struct{})}
}

// SetupWithManager lets the manager run the keeper on every replica.
func (k *Keeper) SetupWithManager(mgr ctrl.Manager) error {
	k.client = mgr.GetClient()
	err := ctrl.NewControllerManagedBy(mgr).Named("certificate").For(&corev1.Secret{}).
		WithOptions(everyReplica()).Complete(k)
	if err != nil {
		return fmt.Errorf("set up the keeper of the certificate: %w", err)
	}
	return nil
}

func everyReplica() controller.Options {
	return controller.Options{NeedLeaderElection: ptr.To(false), SkipNameValidation: ptr.To(true)}
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
func (k *Keeper) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if request.NamespacedName != k.secret {
		return ctrl.Result{}, nil
	}
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
	if err != nil || len(steps) == 0 {
		return ctrl.Result{RequeueAfter: wait}, err
	}
	if err := k.client.Update(ctx, renewed, fieldOwner); err != nil {
		if apierrors.IsConflict(err) { // another replica was first
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		return ctrl.Result{}, fmt.Errorf("write Secret %s: %w", k.secret, err)
	}
	log.FromContext(ctx).Info("Renewed the certificates of the webhook", "secret", k.secret, "steps", steps)
	k.serve(renewed.Data)
	return ctrl.Result{RequeueAfter: wait}, nil
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
