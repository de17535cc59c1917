package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/logging"
	"open-cluster-management.io/interlock/pkg/webhook"
)

const flagWebhook = "webhook-bind-address"

type webhookOptions struct {
	kubeconfig string
	webhook    webhook.Options
	log        logging.Options
}

func newWebhookCommand() *cobra.Command {
	o := &webhookOptions{}
	command := &cobra.Command{
		Use:   "webhook",
		Short: "Check and convert add-ons for the API server",
		Long: `addon-manager webhook serves the hub's API server. It denies
ClusterManagementAddOns whose dependencies can never be satisfied, warns of
those that probably will not be, and converts ClusterManagementAddOns between
v1alpha1 and v1beta1 without losing spec.dependencies. It is the guard where
addon-manager has installed it as a webhook (addon-manager --guard).

Every replica serves. Certificates are made, renewed and put into the
ValidatingWebhookConfiguration interlock-webhook by itself.`,
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
		"Namespace of the Service and the Secret. Default: the one that it runs in, interlock-system outside a cluster.")
	flags.StringVar(&o.webhook.Service, "service-name", "interlock-webhook", "Service by which the API server reaches the webhooks.")
	flags.StringVar(&o.webhook.Secret, "secret-name", "interlock-webhook-certificate",
		"Existing Secret that keeps the CA and the certificate, for all replicas.")
	flags.StringVar(&o.webhook.MetricsAddress, flagMetrics, ":8080", `Address that serves Prometheus metrics; "0" for none.`)
	flags.BoolVar(&o.webhook.MetricsSecure, flagSecure, false, usageSecure)
	flags.StringVar(&o.webhook.HealthAddress, flagHealth, ":8081", `Address that serves /healthz and /readyz; "0" for none.`)
	o.log.AddFlags(flags)
}

func (o *webhookOptions) validate() error {
	if o.webhook.Address == "0" {
		return fmt.Errorf("--%s=%q: there is nothing else to serve", flagWebhook, o.webhook.Address)
	}
	return cmp.Or(
		cmdline.ListenAddress(flagWebhook, o.webhook.Address),
		cmdline.ListenAddress(flagMetrics, o.webhook.MetricsAddress),
		cmdline.ListenAddress(flagHealth, o.webhook.HealthAddress),
		o.log.Validate())
}

func (o *webhookOptions) run(ctx context.Context) (err error) {
	o.log.Start(os.Stderr)
	restConfig, err := cmdline.RestConfig(o.kubeconfig)
	if err != nil {
		return fmt.Errorf("reach the hub: %w", err)
	}
	if o.webhook.Namespace == "" {
		o.webhook.Namespace = cmdline.OwnNamespace("interlock-system")
	}
	// Keys stay with the process: they are in the Secret for those who may read it.
	if o.webhook.CertificateDir, err = os.MkdirTemp("", "interlock-webhook-"); err != nil {
		return fmt.Errorf("make a folder for the certificate: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.webhook.CertificateDir)) }()
	mgr, err := webhook.NewManager(restConfig, o.webhook)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
