package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"open-cluster-management.io/interlock/pkg/agent"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/kube/logging"
	"open-cluster-management.io/interlock/pkg/kube/metricsserver"
)

const (
	flagMetrics = "metrics-bind-address"
	flagHealth  = "health-probe-bind-address"

	flagOwnLease = "own-lease"
)

// inCluster is the value of a kubeconfig flag for the cluster that addon-agent runs in.
const inCluster = "in-cluster"

// proxyCAVariable is the environment variable by which OCM's add-on manager
// names the file with the proxy's CAs.
const proxyCAVariable = "CA_BUNDLE_FILE_PATH"

type options struct {
	hubKubeconfig     string
	kubeconfig        string
	hostingKubeconfig string
	proxyCAFile       string
	ownLease          string
	agent             agent.Options
	log               logging.Options
}

func newCommand() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "addon-agent",
		Short: "Report whether Open Cluster Management add-ons are available on a managed cluster",
		Long: `addon-agent runs on a managed cluster. It sets the condition Available of the
ManagedClusterAddOns in the cluster's namespace on the hub:

  False   RequiredDependencyNotSatisfied          Degraded has this reason
  True    ManagedClusterAddOnLeaseUpdated         the add-on renews its lease
  False   ManagedClusterAddOnLeaseUpdateStopped   the add-on did not renew its lease within the grace period
  Unknown ManagedClusterAddOnLeaseNotFound        the add-on has no lease
  False   AwaitingHealthCheck                     the add-on's own health check has not reported yet
  Unknown AwaitingHealthCheck                     it has not reported within the grace period

It also reports the APIs and the versions of add-ons that dependencies refer to, in
the ManagedClusterFacts of the cluster.`,
		Example: `  # On a managed cluster, in a Deployment
  addon-agent --cluster-name=cluster1 --hub-kubeconfig=/var/run/hub/kubeconfig --log-format=json

  # From a terminal
  addon-agent --cluster-name=cluster1 --hub-kubeconfig=hub.kubeconfig --kubeconfig=cluster1.kubeconfig`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			clusters, err := o.complete()
			if err != nil {
				return cmdline.UsageError(err)
			}
			logger := o.log.Start(command.ErrOrStderr())
			return o.log.Ended(logger, o.run(command.Context(), clusters))
		},
	}
	o.addFlags(command.Flags())
	return command
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.agent.Cluster, "cluster-name", "", "Name of the managed cluster, and of its namespace on the hub. Required.")
	flags.StringVar(&o.hubKubeconfig, "hub-kubeconfig", "", "Kubeconfig of the hub. Required.")
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "Kubeconfig of the managed cluster. Default: $KUBECONFIG, else the cluster that addon-agent runs in.")
	flags.StringVar(&o.hostingKubeconfig, "hosting-kubeconfig", "",
		`Kubeconfig of the cluster on which hosted add-ons keep their leases; "in-cluster" for the cluster that addon-agent runs in. Default: the managed cluster.`)
	flags.StringVar(&o.proxyCAFile, "proxy-ca-file", "", "File with the CAs of a proxy on the way to the hub, trusted beside that of the kubeconfig. Default: $"+proxyCAVariable+", which OCM sets.")
	flags.StringVar(&o.ownLease, flagOwnLease, "",
		"Lease, as namespace/name, that addon-agent renews for itself every minute while the hub responds; on the hosting cluster if there is one. Default: none.")
	flags.DurationVar(&o.agent.GracePeriod, "lease-grace-period", availability.DefaultGracePeriod,
		"How long an add-on may go without renewing its lease before it counts as unavailable.")
	flags.StringVar(&o.agent.MetricsAddress, flagMetrics, ":8080", `Address that serves Prometheus metrics; "0" for none.`)
	flags.BoolVar(&o.agent.MetricsSecure, "metrics-secure", false,
		"Serve metrics over TLS, with a certificate that addon-agent makes itself. Clients need a token of the managed cluster, and the right to get the nonResourceURL /metrics.")
	flags.StringVar(&o.agent.HealthAddress, flagHealth, ":8081", `Address that serves /healthz and /readyz; "0" for none.`)
	o.log.AddFlags(flags)
}

// complete returns the clusters of valid options. An error names flag and value.
func (o *options) complete() (agent.Clusters, error) {
	if err := o.validate(); err != nil {
		return agent.Clusters{}, err
	}
	var clusters agent.Clusters
	var err error
	if clusters.Hub, err = restConfigOf("hub-kubeconfig", o.hubKubeconfig); err != nil {
		return agent.Clusters{}, err
	}
	if clusters.Managed, err = restConfigOf("kubeconfig", o.kubeconfig); err != nil {
		return agent.Clusters{}, err
	}
	if o.hostingKubeconfig != "" {
		if clusters.Hosting, err = restConfigOf("hosting-kubeconfig", o.hostingKubeconfig); err != nil {
			return agent.Clusters{}, err
		}
	}
	return clusters, o.trustProxy(clusters.Hub)
}

func restConfigOf(flag, path string) (*rest.Config, error) {
	load := func() (*rest.Config, error) { return cmdline.RestConfig(path) }
	if path == inCluster {
		load = rest.InClusterConfig
	}
	config, err := load()
	if err != nil {
		return nil, fmt.Errorf("--%s=%q: %w", flag, path, err)
	}
	return config, nil
}

// trustProxy adds the proxy's CAs to the CAs of the hub's kubeconfig. The proxy is on
// the way to the hub, and client-go trusts one set of CAs for both.
func (o *options) trustProxy(hub *rest.Config) error {
	origin, file := "--proxy-ca-file", o.proxyCAFile
	if file == "" {
		origin, file = "$"+proxyCAVariable, os.Getenv(proxyCAVariable)
	}
	if file == "" {
		return nil
	}
	bundle, err := os.ReadFile(file) //nolint:gosec // an administrator names the file
	if err != nil {
		return fmt.Errorf("%s=%q: %w", origin, file, err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(bundle) {
		return fmt.Errorf("%s=%q: there is no certificate in it", origin, file)
	}
	if len(hub.CAData) == 0 && hub.CAFile != "" {
		if hub.CAData, err = os.ReadFile(hub.CAFile); err != nil {
			return fmt.Errorf("--hub-kubeconfig=%q: read its CA: %w", o.hubKubeconfig, err)
		}
		hub.CAFile = ""
	}
	hub.CAData = slices.Concat(hub.CAData, []byte("\n"), bundle)
	return nil
}

func (o *options) validate() error {
	if o.agent.Cluster == "" {
		return errors.New("--cluster-name is required: the name of the managed cluster on the hub")
	}
	if problems := validation.IsDNS1123Label(o.agent.Cluster); len(problems) > 0 {
		return fmt.Errorf("--cluster-name=%q: %s", o.agent.Cluster, strings.Join(problems, "; "))
	}
	if o.hubKubeconfig == "" {
		return errors.New("--hub-kubeconfig is required: the path of a kubeconfig of the hub")
	}
	if o.agent.GracePeriod <= 0 {
		return fmt.Errorf("--lease-grace-period=%s: must be more than 0", o.agent.GracePeriod)
	}
	if o.ownLease != "" {
		namespace, name, _ := strings.Cut(o.ownLease, "/")
		if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
			return fmt.Errorf("--%s=%q: must be namespace/name", flagOwnLease, o.ownLease)
		}
		o.agent.OwnLease = types.NamespacedName{Namespace: namespace, Name: name}
	}
	return cmp.Or(
		cmdline.ListenAddress(flagMetrics, o.agent.MetricsAddress),
		cmdline.ListenAddress(flagHealth, o.agent.HealthAddress),
		o.log.Validate())
}

// gcPercent is the percentage of garbage over live memory that starts a collection. It
// is low because addon-agent runs on each cluster and has little to do.
const gcPercent = 50

func (o *options) run(ctx context.Context, clusters agent.Clusters) error {
	o.agent.Registry = ctrlmetrics.Registry
	metricsserver.RegisterBuildInfo(o.agent.Registry, "addon-agent")
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	mgr, err := agent.NewManager(clusters, o.agent)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
