package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"open-cluster-management.io/interlock/pkg/hub/setup/uninstall"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

type uninstallOptions struct {
	kubeconfig string
	uninstall  uninstall.Options
}

const uninstallLong = `addon-manager uninstall restores the hub to its state before Interlock. The
objects that were deployed stay: delete them afterwards with the tool that
deployed them. These are its steps:

  - record in annotations what is declared by field, and stop here if that fails
  - scale the Deployment of addon-manager to 0, wait until no replica leads, and
    take its lease: from then on, no gate is closed and no finalizer is set
  - remove the finalizer of add-ons that lets them wait for their dependents
  - hand over what Interlock has installed, or remove it with --installed=remove
  - remove addon-agent from the clusters where it is an add-on
  - remove the guard and the gate rule
  - give OCM's CRD back as it was found, with OCM's conversion
  - delete all ManagedClusterFacts
  - delete all AddOnDependencyReports, and the AddOnFleetReport
  - open and remove all gates
  - remove Interlock's conditions
  - delete its events and its lease

The chart runs it before a release is deleted, and make undeploy runs it too. It
can be repeated, and runs where parts are absent.

With --only=graft, it records declarations, stops addon-manager and gives the CRD
back. This repairs a hub whose webhook was deleted, where add-ons can no longer
be read.`

func newUninstallCommand() *cobra.Command {
	o := &uninstallOptions{}
	command := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove what Interlock wrote to the hub",
		Long:  uninstallLong,
		Example: `  # Of the current context
  addon-manager uninstall

  # Where addon-manager was deployed to another namespace
  addon-manager uninstall --kubeconfig hub.kubeconfig --namespace ocm-interlock

  # Repair a hub whose conversion webhook was deleted
  addon-manager uninstall --only=graft --kubeconfig hub.kubeconfig`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return cmdline.UsageError(err)
			}
			restConfig, err := cmdline.RestConfig(o.kubeconfig)
			if err != nil {
				return cmdline.UsageError(fmt.Errorf("--kubeconfig=%q: %w", o.kubeconfig, err))
			}
			o.uninstall.Out = command.OutOrStdout()
			return uninstall.Run(command.Context(), restConfig, o.uninstall)
		},
	}
	o.addFlags(command.Flags())
	return command
}

func (o *uninstallOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "Kubeconfig of the hub. Default: $KUBECONFIG, else the cluster that it runs in.")
	flags.StringVar(&o.uninstall.Namespace, "namespace", "",
		"Namespace where addon-manager is deployed. Default: the namespace of this process, interlock-system outside a cluster.")
	flags.StringVar(&o.uninstall.LeaseNamespace, flagNamespace, "",
		"Namespace of the lease of addon-manager's leader election. Default: that of --namespace.")
	flags.StringVar(&o.uninstall.Step, "only", "", "The only step to run besides the records and stopping addon-manager: graft. Default: all.")
	flags.StringVar(&o.uninstall.Installed, "installed", uninstall.Keep,
		"What becomes of add-ons that Interlock has installed because others need them: keep hands them over to the users of the hub, remove removes them. remove needs the rights to delete ManagedClusterAddOns and the namespace open-cluster-management-interlock.")
	flags.DurationVar(&o.uninstall.Timeout, "timeout", 5*time.Minute, "How long all steps together may take. The removal of addon-agent from managed clusters may take half of it.")
}

func (o *uninstallOptions) complete() error {
	if o.uninstall.Timeout < time.Second {
		return fmt.Errorf("--timeout=%s: must be at least 1s", o.uninstall.Timeout)
	}
	if o.uninstall.Step != "" && o.uninstall.Step != uninstall.StepGraft {
		return fmt.Errorf("--only=%q: must be %s", o.uninstall.Step, uninstall.StepGraft)
	}
	if o.uninstall.Installed != uninstall.Keep && o.uninstall.Installed != uninstall.Remove {
		return fmt.Errorf("--installed=%q: must be %s or %s", o.uninstall.Installed, uninstall.Keep, uninstall.Remove)
	}
	o.uninstall.Namespace = cmp.Or(o.uninstall.Namespace, cmdline.OwnNamespace(defaultNamespace))
	o.uninstall.LeaseNamespace = cmp.Or(o.uninstall.LeaseNamespace, o.uninstall.Namespace)
	return cmp.Or(
		cmdline.DNSLabel("namespace", o.uninstall.Namespace), cmdline.DNSLabel(flagNamespace, o.uninstall.LeaseNamespace))
}
