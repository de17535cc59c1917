// Package webhookca writes the CA of addon-manager webhook to the webhook configurations.
// The webhook itself has no right to do that. A compromised webhook could otherwise redirect
// every write on the hub to itself. It only publishes its CA in a ConfigMap.
package webhookca

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolsevents "k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/kube/objectwatch"
	"open-cluster-management.io/interlock/pkg/names"
)

// EventRefused is the reason of the event on a ConfigMap without a usable CA.
const EventRefused = "WebhookCARefused"

// The delays between an event and the reconcile. They limit the rate of writes if another
// writer keeps changing the ConfigMap or a configuration.
const (
	publishedDelay = 100 * time.Millisecond
	repairDelay    = time.Second
)

// LifecycleName is the name of the MutatingWebhookConfiguration in deploy/lifecycle.
const LifecycleName = "interlock-lifecycle"

// target is a configuration whose webhooks get the CA.
type target struct {
	kind schema.GroupVersionKind
	name string
}

func (r *Reconciler) configurations() []target {
	mutating := admissionregistrationv1.SchemeGroupVersion.WithKind("MutatingWebhookConfiguration")
	targets := []target{{endpoint.Kind, endpoint.ConfigurationName}, {mutating, endpoint.ConfigurationName}}
	if r.Lifecycle {
		targets = append(targets, target{mutating, LifecycleName})
	}
	return targets
}

// Reconciler copies the CA from the ConfigMap to the configurations.
type Reconciler struct {
	// Client reads and writes the hub without a cache.
	Client   client.Client
	Recorder toolsevents.EventRecorder
	// Namespace is the namespace of the webhook.
	Namespace string
	// Lifecycle includes the configuration of deploy/lifecycle.
	Lifecycle bool

	refusedVersion string // resourceVersion of the ConfigMap that was last refused
}

// SetupWithManager registers the controller, which runs in the leader only.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return objectwatch.SetupWithManager(mgr, "webhook-ca", names.WebhookCA, r, func(ctx context.Context, objects *objectwatch.Watches) error {
		err := objects.Watch(ctx, corev1.SchemeGroupVersion.WithResource("configmaps"), r.published(), publishedDelay)
		for _, configuration := range r.configurations() {
			resource, _ := meta.UnsafeGuessKindToResource(configuration.kind)
			err = errors.Join(err, objects.Watch(ctx, resource, types.NamespacedName{Name: configuration.name}, repairDelay))
		}
		return err
	})
}

func (r *Reconciler) published() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: names.WebhookCA}
}

// Reconcile writes the published CA to each configuration that has another CA. It does nothing
// if the ConfigMap is empty or absent: another component may create the certificate, or the
// webhook has not started yet.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	published := &unstructured.Unstructured{}
	published.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	if err := r.Client.Get(ctx, r.published(), published); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	text, _, err := unstructured.NestedString(published.Object, "data", corev1.ServiceAccountRootCAKey)
	if err != nil || text == "" {
		return reconcile.Result{}, err
	}
	if err := checkBundle(text); err != nil {
		r.refuse(ctx, published, err)
		return reconcile.Result{}, nil // the next change of the ConfigMap triggers another try
	}
	var failures []error
	for _, configuration := range r.configurations() {
		failures = append(failures, r.inject(ctx, configuration, []byte(text)))
	}
	return reconcile.Result{}, errors.Join(failures...)
}

// refuse reports that the ConfigMap has no usable CA, once for each of its versions.
func (r *Reconciler) refuse(ctx context.Context, published *unstructured.Unstructured, cause error) {
	if published.GetResourceVersion() == r.refusedVersion {
		return
	}
	r.refusedVersion = published.GetResourceVersion()
	message := fmt.Sprintf("The webhook configurations %s keep their CA: ConfigMap %s, key %s: %s",
		endpoint.ConfigurationName, r.published(), corev1.ServiceAccountRootCAKey, cause)
	log.FromContext(ctx).Info(message)
	about := &corev1.ObjectReference{
		APIVersion: published.GetAPIVersion(),
		Kind:       published.GetKind(),
		Namespace:  published.GetNamespace(),
		Name:       published.GetName(),
		UID:        published.GetUID(),
	}
	r.Recorder.Eventf(about, nil, corev1.EventTypeWarning, EventRefused, "InjectWebhookCA", "%s", events.Note(message))
}

// inject writes the CA to a configuration. It does nothing if there is no such configuration.
func (r *Reconciler) inject(ctx context.Context, t target, bundle []byte) error {
	configuration := &unstructured.Unstructured{}
	configuration.SetGroupVersionKind(t.kind)
	if err := r.Client.Get(ctx, client.ObjectKey{Name: t.name}, configuration); err != nil {
		return client.IgnoreNotFound(err)
	}
	changed, err := trust(configuration, bundle)
	if err != nil || !changed {
		return err
	}
	err = r.Client.Update(ctx, configuration, client.FieldOwner(names.AddonManager))
	if apierrors.IsConflict(err) {
		return nil // the other write triggers the next reconcile
	}
	if err != nil {
		return fmt.Errorf("write the CA to %s %s: %w", t.kind.Kind, t.name, err)
	}
	log.FromContext(ctx).Info("Wrote the CA of the webhook", "kind", t.kind.Kind, "name", t.name)
	return nil
}
