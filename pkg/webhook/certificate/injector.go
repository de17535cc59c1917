package certificate

import (
	"bytes"
	"context"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// writeInterval bounds how often a replica writes where another writer insists on
// another CA, such as a cert-manager whose annotation was left in place.
const writeInterval = time.Second

// Injector copies the CA bundle of the Secret to a webhook configuration, so that
// the API server trusts the serving certificate.
type Injector struct {
	Client client.Client
	Clock  clock.PassiveClock
	Secret types.NamespacedName
	// Configuration is the name of a ValidatingWebhookConfiguration.
	Configuration string

	written time.Time
}

// SetupWithManager lets the manager run the injector on every replica.
func (i *Injector) SetupWithManager(mgr ctrl.Manager) error {
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: i.Configuration}}}
	})
	err := ctrl.NewControllerManagedBy(mgr).Named("authority").
		For(&admissionregistrationv1.ValidatingWebhookConfiguration{}).Watches(&corev1.Secret{}, all).
		WithOptions(everyReplica()).Complete(i)
	if err != nil {
		return fmt.Errorf("set up the injector of the CA: %w", err)
	}
	return nil
}

// Reconcile implements reconcile.Reconciler.
func (i *Injector) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if request.Name != i.Configuration {
		return ctrl.Result{}, nil
	}
	var secret corev1.Secret
	if err := i.Client.Get(ctx, i.Secret, &secret); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var configuration admissionregistrationv1.ValidatingWebhookConfiguration
	if err := i.Client.Get(ctx, request.NamespacedName, &configuration); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !trust(configuration.Webhooks, secret.Data[BundleKey]) {
		return ctrl.Result{}, nil
	}
	now := i.Clock.Now()
	if wait := i.written.Add(writeInterval).Sub(now); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	i.written = now
	if err := i.Client.Update(ctx, &configuration, fieldOwner); err != nil && !apierrors.IsConflict(err) {
		return ctrl.Result{}, fmt.Errorf("write the CA to ValidatingWebhookConfiguration %s: %w", i.Configuration, err)
	}
	return ctrl.Result{}, nil // after a conflict, the other write triggers the next reconcile
}

// trust sets the bundle on all webhooks, and reports whether any changed. An
// invalid bundle, which the keeper is about to replace, changes nothing.
func trust(webhooks []admissionregistrationv1.ValidatingWebhook, bundle []byte) bool {
	if _, err := cert.ParseCertsPEM(bundle); err != nil {
		return false
	}
	changed := false
	for at := range webhooks {
		if config := &webhooks[at].ClientConfig; !bytes.Equal(config.CABundle, bundle) {
			config.CABundle, changed = bundle, true
		}
	}
	return changed
}
