package simulator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/process"
)

// WebhookUser is the user of addon-manager webhook on the hub.
const WebhookUser = "system:serviceaccount:open-cluster-management:interlock-webhook"

const (
	webhookNamespace = "default"
	webhookService   = "interlock-webhook"
	webhookSecret    = "interlock-webhook-certificate"
	// webhookMemory is the limit for Go in the container of deploy/hub: 90 % of 256 MiB.
	webhookMemory = "GOMEMLIMIT=230MiB"
	// reviewPatience is longer than any review of the webhook may take.
	reviewPatience = 20 * time.Second
	// Reviewers is the number of connections to the webhook that are kept open.
	Reviewers = 32
)

// Webhook is an addon-manager webhook in its own process.
type Webhook struct {
	*process.Process

	address, health string
	client          *http.Client
}

// StartWebhook starts an addon-manager webhook that refuses requests that would break installed add-ons, and waits
// until it serves. The API server is not configured to call it.
func (h *Hub) StartWebhook(ctx context.Context, binary string) (*Webhook, error) {
	if err := h.prepareWebhook(ctx); err != nil {
		return nil, err
	}
	user, err := h.User(WebhookUser)
	if err != nil {
		return nil, err
	}
	addresses, err := freeAddresses(2)
	if err != nil {
		return nil, fmt.Errorf("find ports for addon-manager webhook: %w", err)
	}
	webhook := &Webhook{address: addresses[0], health: addresses[1]}
	webhook.Process, err = process.Command{
		Path: binary, Log: filepath.Join(h.dir, "webhook.log"), Env: append(os.Environ(), webhookMemory),
		Args: []string{
			"webhook", "--kubeconfig", user.Kubeconfig, "--namespace", webhookNamespace, "--service-name", webhookService,
			"--secret-name", webhookSecret, "--webhook-bind-address", webhook.address, "--health-probe-bind-address", webhook.health,
			"--metrics-bind-address=0", "--protection=enforce", "--log-format=json",
		},
	}.Start()
	if err != nil {
		return nil, err
	}
	if err := webhook.awaitServing(ctx, h); err != nil {
		return nil, errors.Join(err, webhook.Kill())
	}
	return webhook, nil
}

// prepareWebhook creates the objects that the webhook fills. On a real hub it may not create them.
func (h *Hub) prepareWebhook(ctx context.Context) error {
	about := metav1.ObjectMeta{Namespace: webhookNamespace}
	secret, configMap := &corev1.Secret{ObjectMeta: about}, &corev1.ConfigMap{ObjectMeta: about}
	secret.Name, configMap.Name = webhookSecret, names.WebhookCA
	for _, object := range []client.Object{secret, configMap} {
		if err := h.Client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("prepare addon-manager webhook: %w", err)
		}
	}
	return nil
}

// awaitServing waits until the webhook is ready, and trusts the CA that it has published by then.
func (w *Webhook) awaitServing(ctx context.Context, hub *Hub) error {
	roots := x509.NewCertPool()
	err := await(ctx, w.Process, "addon-manager webhook to serve", func(ctx context.Context) (bool, error) {
		if _, err := get(ctx, "http://"+w.health+"/readyz"); err != nil {
			return false, nil //nolint:nilerr // it does not serve yet
		}
		var configMap corev1.ConfigMap
		if err := hub.Client.Get(ctx, client.ObjectKey{Namespace: webhookNamespace, Name: names.WebhookCA}, &configMap); err != nil {
			return false, err
		}
		return roots.AppendCertsFromPEM([]byte(configMap.Data["ca.crt"])), nil
	})
	w.client = &http.Client{Timeout: reviewPatience, Transport: &http.Transport{
		MaxIdleConnsPerHost: Reviewers, // connections stay open, as in the API server
		TLSClientConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: webhookService + "." + webhookNamespace + ".svc",
		},
	}}
	return err
}
