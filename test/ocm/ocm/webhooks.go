package main

import (
	"errors"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	addonv1alpha1 "open-cluster-management.io/ocm/pkg/addon/webhook/v1alpha1"
	addonv1beta1 "open-cluster-management.io/ocm/pkg/addon/webhook/v1beta1"
	commonoptions "open-cluster-management.io/ocm/pkg/common/options"
	registrationv1 "open-cluster-management.io/ocm/pkg/registration/webhook/v1"
	registrationv1beta2 "open-cluster-management.io/ocm/pkg/registration/webhook/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// newWebhooks serves the webhooks of "addon webhook-server" and "registration webhook-server". Each of these also
// listens on 8000 and 8080, which no flag changes. So only one of them can run on a machine.
func newWebhooks() *cobra.Command {
	var options webhook.Options
	command := &cobra.Command{
		Use:   "webhooks",
		Short: "Serve OCM's webhooks for add-ons and managed clusters",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return serveWebhooks(options)
		},
	}
	command.Flags().StringVar(&options.Host, "host", "127.0.0.1", "Address to listen on.")
	command.Flags().IntVar(&options.Port, "port", 9443, "Port to listen on.")
	command.Flags().StringVar(&options.CertDir, "certdir", "", "Folder with tls.crt and tls.key.")
	return command
}

func serveWebhooks(options webhook.Options) error {
	ctrl.SetLogger(klog.Background())
	scheme := runtime.NewScheme()
	err := errors.Join(clientgoscheme.AddToScheme(scheme), addonv1alpha1.Install(scheme), addonv1beta1.Install(scheme),
		clusterv1.Install(scheme), registrationv1beta2.Install(scheme))
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:        scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(options),
	})
	if err != nil {
		return err
	}
	for _, hook := range []commonoptions.WebhookInitializer{
		&addonv1alpha1.ManagedClusterAddOnWebhook{},
		&addonv1beta1.ManagedClusterAddOnWebhook{},
		&addonv1alpha1.ClusterManagementAddOnWebhook{},
		&addonv1beta1.ClusterManagementAddOnWebhook{},
		&registrationv1.ManagedClusterWebhook{},
		&registrationv1beta2.ManagedClusterSetBindingWebhook{},
	} {
		if err := hook.Init(manager); err != nil {
			return err
		}
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
