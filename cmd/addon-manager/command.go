package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/compat/rule/installer"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/kube/logging"
	"open-cluster-management.io/interlock/pkg/kube/metricsserver"
	"open-cluster-management.io/interlock/pkg/kube/tlsconfig"
)

const (
	flagNamespace = "leader-elect-namespace"
	flagMetrics   = "metrics-bind-address"
	flagSecure    = "metrics-secure"
	flagHealth    = "health-probe-bind-address"
	flagProfile   = "pprof-bind-address"
	flagGuard     = "guard"
	flagReports   = "reports"

	flagGraft          = "graft-crds"
	flagGraftGrace     = "graft-grace-period"
	flagLifecycle      = "lifecycle"
	flagRemovalDelay   = "lifecycle-removal-delay"
	flagWebhookAddress = "webhook-address"
)

// defaultNamespace is the namespace of a default deployment. Processes outside of a cluster use it.
const defaultNamespace = "interlock-system"

const usageSecure = `Serve metrics over TLS, and only to clients with the right to get the nonResourceURL /metrics.`

type options struct {
	kubeconfig string
	offline    string
	guard      string
	reports    string
	graft      graft.Settings
	agent      agentOptions
	hub        hub.Options
	log        logging.Options
}

func newCommand() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "addon-manager",
		Short: "Check the dependencies of Open Cluster Management add-ons on every managed cluster",
		Long: `addon-manager runs on an Open Cluster Management hub. It checks what each
ClusterManagementAddOn declares in spec.dependencies against the
ManagedClusterAddOns of every managed cluster, and sets their condition Degraded:

  True  RequiredDependencyNotSatisfied   a Required dependency is not installed or not available
  True  DependencyNotSatisfied           only Optional dependencies are not satisfied
  False DependenciesSatisfied            all dependencies are satisfied again`,
		Example: `  # On the hub, as a Deployment does it
  addon-manager --log-format=json

  # From a terminal
  addon-manager --kubeconfig hub.kubeconfig --leader-elect=false`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			o.graft.Keep = !command.Flags().Changed(flagGraft)
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			logger := o.log.Start(command.ErrOrStderr())
			return o.log.Ended(logger, o.run(command.Context()))
		},
	}
	o.addFlags(command.Flags())
	command.AddCommand(newWebhookCommand(), newConsoleCommand(), newUninstallCommand(), newSmokeTestCommand())
	command.CompletionOptions.DisableDefaultCmd = true
	return command
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "Kubeconfig of the hub. Default: $KUBECONFIG, else the cluster that it runs in.")
	flags.BoolVar(&o.hub.LeaderElection, "leader-elect", true, "Let only one replica at a time write. If false, this process writes whatever others do. With --lifecycle it then holds the lease while no other process does.")
	flags.StringVar(&o.hub.LeaderElectionNamespace, flagNamespace, "",
		"Namespace of the lease by which replicas elect their leader. Default: the one that it runs in. Outside a cluster kube-system, and with --leader-elect=false interlock-system, where the webhook looks for it.")
	flags.StringVar(&o.hub.MetricsAddress, flagMetrics, ":8080", `Address that serves Prometheus metrics; "0" for none.`)
	flags.BoolVar(&o.hub.MetricsSecure, flagSecure, false, usageSecure)
	flags.StringVar(&o.hub.HealthAddress, flagHealth, ":8081", `Address that serves /healthz and /readyz; "0" for none.`)
	flags.StringVar(&o.hub.ProfileAddress, flagProfile, "0", `Address that serves profiles of the process under /debug/pprof, to every client that can reach it: use the loopback interface only. "0" for none.`)
	flags.StringVar(&o.offline, "offline", string(evaluation.OfflineHold),
		`Verdicts on a lost cluster (its ManagedCluster is Unknown): "hold" keeps the last ones, "strict" takes Unknown for not available.`)
	flags.StringVar(&o.reports, flagReports, "off",
		`Keep an AddOnDependencyReport for each cluster, in its namespace: "unsatisfied" with the dependencies that are not satisfied, "all" with all of them; and an AddOnFleetReport for all clusters. "off" keeps none and deletes earlier ones.`)
	flags.BoolVar(&o.hub.Lifecycle, flagLifecycle, false,
		"Act on what add-ons declare of their lifecycle: with ordering: Install, hold installations back until their dependencies are satisfied; with install: Auto, have dependencies installed. addon-manager webhook needs it too.")
	flags.StringVar(&o.guard, flagGuard, string(installer.ModeAuto),
		`Form of the guard, which keeps Available from being True while a Required dependency fails: "policy" installs a MutatingAdmissionPolicy. "webhook" uses addon-manager webhook. "auto" installs the policy where the hub acts on it, else the webhook where it is deployed. "off" installs nothing and removes an earlier guard.`)
	flags.BoolVar(&o.graft.Enabled, flagGraft, false,
		"Add spec.dependencies to OCM's CRD of ClusterManagementAddOns, and let addon-manager webhook convert them as soon as it responds. false gives a grafted CRD back. Without this flag, grafting stays on where it was on, and a CRD that was not grafted is left as it is.")
	flags.DurationVar(&o.graft.Grace, flagGraftGrace, 10*time.Minute,
		"How long the conversion may fail before the CRD is given back. spec.dependencies is then hidden until conversion is served again.")
	flags.StringVar(&o.graft.WebhookAddress, flagWebhookAddress, "",
		"Address of addon-manager webhook, [host]:port, where addon-manager probes the conversion. Default: its Service, which needs the DNS of the cluster.")
	o.addLifecycleFlags(flags)
	flags.IntVar(&o.hub.Concurrency, "concurrency", 16, "How many add-ons are evaluated and written at the same time.")
	o.agent.addFlags(flags)
	o.log.AddFlags(flags)
}

func (o *options) addLifecycleFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&o.hub.RemovalDelay, flagRemovalDelay, time.Hour,
		"With --lifecycle, how long what Interlock has installed is kept where no add-on needs it any more, before it is removed; at least 1s.")
}

// leastRemovalDelay is the least value of --lifecycle-removal-delay. Without a delay, an edge that does not apply for a moment would
// uninstall its dependency.
const leastRemovalDelay = time.Second

// scopes are the values of --reports.
var scopes = map[string]dependencyv1alpha1.ReportScope{
	"off": "", "unsatisfied": dependencyv1alpha1.ReportUnsatisfied, "all": dependencyv1alpha1.ReportAll,
}

func (o *options) validate() error {
	o.hub.Offline = evaluation.OfflinePolicy(o.offline)
	if !slices.Contains([]evaluation.OfflinePolicy{evaluation.OfflineHold, evaluation.OfflineStrict}, o.hub.Offline) {
		return fmt.Errorf("--offline=%q: must be hold or strict", o.offline)
	}
	o.hub.Guard = installer.Mode(o.guard)
	if !slices.Contains(installer.Modes, o.hub.Guard) {
		return fmt.Errorf("--%s=%q: must be auto, policy, webhook or off", flagGuard, o.guard)
	}
	var ok bool
	if o.hub.Reports, ok = scopes[o.reports]; !ok {
		return fmt.Errorf("--%s=%q: must be off, unsatisfied or all", flagReports, o.reports)
	}
	if err := o.validateGraft(); err != nil {
		return err
	}
	var err error
	if o.hub.Agent, err = o.agent.complete(); err != nil {
		return err
	}
	if o.hub.RemovalDelay < leastRemovalDelay {
		return fmt.Errorf("--%s=%s: must be at least %s", flagRemovalDelay, o.hub.RemovalDelay, leastRemovalDelay)
	}
	if o.hub.Concurrency < 1 {
		return fmt.Errorf("--concurrency=%d: must be at least 1", o.hub.Concurrency)
	}
	return cmp.Or(
		cmdline.DNSLabel(flagNamespace, o.hub.LeaderElectionNamespace),
		cmdline.ListenAddress(flagMetrics, o.hub.MetricsAddress),
		cmdline.ListenAddress(flagHealth, o.hub.HealthAddress),
		cmdline.ListenAddress(flagProfile, o.hub.ProfileAddress),
		o.log.Validate())
}

func (o *options) validateGraft() error {
	o.hub.Graft = &o.graft
	if o.graft.Grace <= 0 {
		return fmt.Errorf("--%s=%s: must be more than 0", flagGraftGrace, o.graft.Grace)
	}
	if _, port, err := net.SplitHostPort(o.graft.WebhookAddress); o.graft.WebhookAddress != "" && (err != nil || port == "") {
		return fmt.Errorf("--%s=%q: must be [host]:port", flagWebhookAddress, o.graft.WebhookAddress)
	}
	return nil
}

// gcPercent is the percentage of garbage over live memory that starts a collection.
// With Go's default of 100, the heap would be twice as large, because it is mostly the
// cache.
const gcPercent = 30

// heapFloor is the size, in bytes, of an allocation that counts as live heap and lets
// collections start later. The process never touches it, so that it takes no memory.
// While a cache was filled with 100,000 add-ons, garbage collection took 11% of the time
// with it and 19% without.
const heapFloor = 32 << 20

// tuneCollections sets when collections start, unless GOGC does. The function that it returns ends that.
func tuneCollections() func() {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(gcPercent)
	floor := make([]byte, heapFloor)
	return func() { runtime.KeepAlive(floor) }
}

// setNamespaces sets the namespaces of the lease and of the webhook. Without an election, the lease only shows the webhook that an
// addon-manager runs.
func (o *options) setNamespaces() {
	outside := "kube-system"
	if !o.hub.LeaderElection {
		outside = defaultNamespace
	}
	if o.hub.LeaderElectionNamespace == "" {
		o.hub.LeaderElectionNamespace = cmdline.OwnNamespace(outside)
	}
	o.hub.WebhookNamespace = cmdline.OwnNamespace(defaultNamespace)
}

func (o *options) run(ctx context.Context) error {
	defer tuneCollections()()
	restConfig, err := cmdline.RestConfig(o.kubeconfig)
	if err != nil {
		return cmdline.UsageError(fmt.Errorf("--kubeconfig=%q: %w", o.kubeconfig, err))
	}
	o.setNamespaces()
	metricsserver.RegisterBuildInfo(ctrlmetrics.Registry, "addon-manager")
	if o.hub.MetricsSecure {
		if o.hub.TLS, ctx, err = tlsconfig.Watch(ctx, restConfig, o.hub.WebhookNamespace); err != nil {
			return err
		}
	}
	mgr, err := hub.NewManager(restConfig, o.hub)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}
