package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"open-cluster-management.io/interlock/pkg/consoleserver"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/kube/logging"
	"open-cluster-management.io/interlock/pkg/kube/metricsserver"
	"open-cluster-management.io/interlock/pkg/kube/tlsconfig"
)

const (
	flagConsole = "console-bind-address"
	flagHost    = "host"
	flagGroupBy = "group-by"
	flagReview  = "review-interval"
)

type consoleOptions struct {
	kubeconfig string
	service    string
	console    consoleserver.Options
	log        logging.Options
}

func newConsoleCommand() *cobra.Command {
	o := &consoleOptions{}
	command := &cobra.Command{
		Use:   "console",
		Short: "Show the fleet in browsers, to each viewer what the viewer's rights allow",
		Long: `addon-manager console serves the page that kubectl addon ui shows, from the hub:
the root causes, all add-ons on all managed clusters, and the graph of
dependencies, with each change.

A viewer signs in with a token of the hub, which the API server checks. The page
shows the managed clusters whose ManagedClusterAddOns the viewer may list, and
whose ManagedCluster the viewer may get. A right that is withdrawn counts no more
after a minute.

It reads the hub once for all viewers, with rights of its own to read, and writes
nothing. Every replica serves, and none leads.`,
		Example: `  # In the hub, as a Deployment does it
  addon-manager console --log-format=json

  # With a certificate of your own, behind a Route or an Ingress of that name
  addon-manager console --certificate-dir=/certificate --host=addons.example.com

  # From a terminal, and then https://localhost:9443 in a browser of this machine
  addon-manager console --kubeconfig hub.kubeconfig --console-bind-address=127.0.0.1:9443

  # A token for the page: of a service account that may read the fleet
  kubectl create token NAME -n NAMESPACE --duration=1h --audience=interlock-console`,
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

func (o *consoleOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "Kubeconfig of the hub. Default: $KUBECONFIG, else the cluster that it runs in.")
	flags.StringVar(&o.console.Address, flagConsole, ":9443", "Address that serves the page over TLS.")
	flags.StringVar(&o.console.CertificateDir, flagCertificateDir, "",
		"Folder with tls.crt and tls.key, such as a mounted Secret, which is read again when it changes. If empty, the process makes a certificate for itself, which browsers do not trust.")
	flags.StringArrayVar(&o.console.Hosts, flagHost, nil,
		"Name, or name:port, under which browsers open the page, besides localhost, 127.0.0.1, ::1 and the names of the Service. May be repeated. Requests with another Host are refused.")
	flags.StringVar(&o.console.Namespace, "namespace", "",
		"Namespace of the Service, and of the lease of addon-manager. Default: the namespace of this process, interlock-system outside a cluster.")
	flags.StringVar(&o.service, "service-name", "interlock-console", "Service of the page.")
	flags.StringVar(&o.console.GroupBy, flagGroupBy, clusterv1beta2.ClusterSetLabel, "Group managed clusters by the values of this label.")
	flags.DurationVar(&o.console.ReviewInterval, flagReview, 30*time.Second,
		"How long the API server's response about the token and the rights of a viewer counts, and how often open pages are reviewed; at least 1s.")
	flags.StringVar(&o.console.MetricsAddress, flagMetrics, ":8080", `Address that serves Prometheus metrics; "0" for none.`)
	flags.BoolVar(&o.console.MetricsSecure, flagSecure, false, usageSecure)
	flags.StringVar(&o.console.HealthAddress, flagHealth, ":8081", `Address that serves /healthz and /readyz; "0" for none.`)
	o.log.AddFlags(flags)
}

// leastReview is the least value of --review-interval. All viewers would be reviewed all the time otherwise.
const leastReview = time.Second

func (o *consoleOptions) validate() error {
	if o.console.Address == "0" {
		return fmt.Errorf("--%s=%q: there is nothing else to serve", flagConsole, o.console.Address)
	}
	if o.console.ReviewInterval < leastReview {
		return fmt.Errorf("--%s=%s: must be at least %s", flagReview, o.console.ReviewInterval, leastReview)
	}
	if problems := validation.IsQualifiedName(o.console.GroupBy); len(problems) > 0 {
		return fmt.Errorf("--%s=%q: must be the name of a label: %s", flagGroupBy, o.console.GroupBy, problems[0])
	}
	for _, host := range o.console.Hosts {
		if !consoleserver.IsHost(host) {
			return fmt.Errorf("--%s=%q: must be a name or an address, with or without a port, and no URL", flagHost, host)
		}
	}
	if folder := o.console.CertificateDir; folder != "" {
		if _, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key")); err != nil {
			return fmt.Errorf("--%s=%q: %w", flagCertificateDir, folder, err)
		}
	}
	return cmp.Or(
		cmdline.DNSLabel("namespace", o.console.Namespace),
		cmdline.DNSLabel("service-name", o.service),
		cmdline.ListenAddress(flagConsole, o.console.Address),
		cmdline.ListenAddress(flagMetrics, o.console.MetricsAddress),
		cmdline.ListenAddress(flagHealth, o.console.HealthAddress),
		o.log.Validate())
}

func (o *consoleOptions) run(ctx context.Context) error {
	o.log.Start(os.Stderr)
	defer tuneCollections()()
	restConfig, err := cmdline.RestConfig(o.kubeconfig)
	if err != nil {
		return cmdline.UsageError(fmt.Errorf("--kubeconfig=%q: %w", o.kubeconfig, err))
	}
	o.console.Namespace = cmp.Or(o.console.Namespace, cmdline.OwnNamespace(defaultNamespace))
	o.console.Hosts = append(consoleserver.ServiceHosts(o.service, o.console.Namespace), o.console.Hosts...)
	metricsserver.RegisterBuildInfo(ctrlmetrics.Registry, "console")
	if o.console.TLS, ctx, err = tlsconfig.Watch(ctx, restConfig, o.console.Namespace); err != nil {
		return err
	}
	mgr, err := consoleserver.NewManager(restConfig, o.console)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
