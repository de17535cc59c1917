package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/kube/logging"
	"open-cluster-management.io/interlock/pkg/kube/metricsserver"
	"open-cluster-management.io/interlock/pkg/kube/tlsconfig"
	"open-cluster-management.io/interlock/pkg/webhook"
	"open-cluster-management.io/interlock/pkg/webhook/certificate"
)

const (
	flagWebhook        = "webhook-bind-address"
	flagCertificates   = "certificates"
	flagCertificateDir = "certificate-dir"
	flagStopAfter      = "stop-after"
	flagProtection     = "protection"
)

type webhookOptions struct {
	kubeconfig   string
	service      string
	certificates string
	protection   string
	webhook      webhook.Options
	log          logging.Options
}

func newWebhookCommand() *cobra.Command {
	o := &webhookOptions{}
	command := &cobra.Command{
		Use:   "webhook",
		Short: "Check and convert add-ons for the API server",
		Long: `addon-manager webhook serves the hub's API server. It denies
ClusterManagementAddOns whose dependencies can never be satisfied, and warns of
dependencies that probably will not be satisfied. It converts
ClusterManagementAddOns between v1alpha1 and v1beta1 and keeps
spec.dependencies. It serves the guard where addon-manager installs the guard as
a webhook (addon-manager --guard). It warns when an add-on is removed that installed
add-ons require, or installed that they contradict, or refuses that (--protection).

Every replica serves. The webhook makes and renews its certificate, and publishes
the CA in the ConfigMap interlock-webhook-ca. The leader of addon-manager writes it
to the webhook configurations interlock-webhook. Or cert-manager does all of this,
and the files of its Secret are mounted.`,
		Example: `  # In the hub, as a Deployment does it
  addon-manager webhook --log-format=json

  # With the certificate of cert-manager, its Secret mounted
  addon-manager webhook --certificates=files --certificate-dir=/certificate`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return o.run(command.Context())
		},
	}
	o.addFlags(command.Flags())
	return command
}

func (o *webhookOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "Kubeconfig of the hub. Default: $KUBECONFIG, else the cluster that it runs in.")
	flags.StringVar(&o.webhook.Address, flagWebhook, ":9443", "Address that serves the webhooks over TLS.")
	flags.StringVar(&o.webhook.Namespace, "namespace", "",
		"Namespace of the Service, the Secret and the ConfigMap. Default: the namespace of this process, interlock-system outside a cluster.")
	flags.StringVar(&o.service, "service-name", "interlock-webhook", "Service by which the API server reaches the webhooks.")
	flags.StringVar(&o.certificates, flagCertificates, string(webhook.CertificatesInterlock),
		`Source of the certificate: "interlock" makes and renews it and its CA. "files" reads tls.crt and tls.key from --certificate-dir, and again when they change.`)
	flags.StringVar(&o.webhook.CertificateDir, flagCertificateDir, "",
		"Folder with tls.crt and tls.key, such as a mounted Secret of cert-manager. Only with --certificates=files.")
	flags.StringVar(&o.webhook.Secret, "secret-name", "interlock-webhook-certificate",
		"Existing Secret with the CA and the certificate of all replicas. Only with --certificates=interlock.")
	flags.StringVar(&o.webhook.MetricsAddress, flagMetrics, ":8080", `Address that serves Prometheus metrics; "0" for none.`)
	flags.BoolVar(&o.webhook.MetricsSecure, flagSecure, false, usageSecure)
	flags.StringVar(&o.webhook.HealthAddress, flagHealth, ":8081", `Address that serves /healthz and /readyz; "0" for none.`)
	flags.DurationVar(&o.webhook.StopAfter, flagStopAfter, 0,
		"How long it serves after a signal to stop. Meanwhile it closes connections, so that the API server uses another replica.")
	flags.StringVar(&o.protection, flagProtection, "warn",
		`What is done when an add-on is removed from managed clusters where installed add-ons require it, or installed or changed where they contradict it: "off" lets it pass, "warn" warns, "enforce" refuses. An AddOnDependencyPolicy can say otherwise for the clusters that it selects.`)
	flags.BoolVar(&o.webhook.Lifecycle, flagLifecycle, false,
		"Close the gate of a new add-on that declares ordering: Install, until its dependencies are satisfied. addon-manager needs it too.")
	o.log.AddFlags(flags)
}

func (o *webhookOptions) validate() error {
	if o.webhook.Address == "0" {
		return fmt.Errorf("--%s=%q: there is nothing else to serve", flagWebhook, o.webhook.Address)
	}
	if o.webhook.StopAfter < 0 {
		return fmt.Errorf("--%s=%s: must not be negative", flagStopAfter, o.webhook.StopAfter)
	}
	if o.webhook.Protection = protection.Modes[o.protection]; o.webhook.Protection == "" {
		return fmt.Errorf("--%s=%q: must be off, warn or enforce", flagProtection, o.protection)
	}
	return cmp.Or(
		cmdline.DNSLabel("namespace", o.webhook.Namespace),
		cmdline.DNSLabel("service-name", o.service),
		o.validateCertificates(),
		cmdline.ListenAddress(flagWebhook, o.webhook.Address),
		cmdline.ListenAddress(flagMetrics, o.webhook.MetricsAddress),
		cmdline.ListenAddress(flagHealth, o.webhook.HealthAddress),
		o.log.Validate())
}

func (o *webhookOptions) validateCertificates() error {
	o.webhook.Certificates = webhook.Certificates(o.certificates)
	switch o.webhook.Certificates {
	case webhook.CertificatesInterlock:
		if o.webhook.CertificateDir != "" {
			return fmt.Errorf("--%s=%q: is not read with --%s=%s; set --%s=%s", flagCertificateDir, o.webhook.CertificateDir,
				flagCertificates, o.certificates, flagCertificates, webhook.CertificatesFiles)
		}
		return nil
	case webhook.CertificatesFiles:
		_, err := tls.LoadX509KeyPair(filepath.Join(o.webhook.CertificateDir, "tls.crt"), filepath.Join(o.webhook.CertificateDir, "tls.key"))
		if err != nil {
			return fmt.Errorf("--%s=%q: %w", flagCertificateDir, o.webhook.CertificateDir, err)
		}
		return nil
	}
	return fmt.Errorf("--%s=%q: must be interlock or files", flagCertificates, o.certificates)
}

func (o *webhookOptions) run(ctx context.Context) error {
	o.log.Start(os.Stderr)
	restConfig, err := cmdline.RestConfig(o.kubeconfig)
	if err != nil {
		return fmt.Errorf("reach the hub: %w", err)
	}
	if o.webhook.Namespace == "" {
		o.webhook.Namespace = cmdline.OwnNamespace(defaultNamespace)
	}
	o.webhook.ServerName = fmt.Sprintf("%s.%s.svc", o.service, o.webhook.Namespace)
	o.webhook.Lifetimes = certificate.DefaultLifetimes()
	metricsserver.RegisterBuildInfo(ctrlmetrics.Registry, "webhook")
	if o.webhook.TLS, ctx, err = tlsconfig.Watch(ctx, restConfig, o.webhook.Namespace); err != nil {
		return err
	}
	mgr, err := webhook.NewManager(restConfig, o.webhook)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
