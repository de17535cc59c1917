package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/hub/uninstall"
)

type uninstallOptions struct {
	kubeconfig string
	uninstall  uninstall.Options
}

func newUninstallCommand() *cobra.Command {
	o := &uninstallOptions{}
	command := &cobra.Command{
		Use:   "uninstall",
		Short: "Take back what Interlock wrote to the hub",
		Long: `addon-manager uninstall leaves the hub as it was before Interlock, but for the
objects that were deployed: those are deleted afterwards, by whatever deployed
them. It scales the Deployment of addon-manager to 0 and waits until no replica
leads; then it removes addon-agent from the clusters where it is an add-on and
the guard, gives OCM's CRD back as it was found, with OCM's conversion, and
removes what clusters are asked, Interlock's conditions and their traces in
managedFields, its events and its lease.

The chart runs it before a release is deleted, and so does make undeploy. It can
be run again, and where parts are absent.`,
		Example: `  # Of the current context
  addon-manager uninstall

  # Where addon-manager was deployed to another namespace
  addon-manager uninstall --kubeconfig hub.kubeconfig --namespace ocm-interlock`,
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
		"Namespace that addon-manager is deployed in. Default: the one that it runs in, interlock-system outside a cluster.")
	flags.StringVar(&o.uninstall.LeaseNamespace, flagNamespace, "",
		"Namespace of the lease by which replicas of addon-manager elect their leader. Default: that of --namespace.")
	flags.DurationVar(&o.uninstall.Timeout, "timeout", 5*time.Minute, "How long all steps together may take; half of it for the removal of addon-agent from managed clusters.")
}

func (o *uninstallOptions) complete() error {
	if o.uninstall.Timeout < time.Second {
		return fmt.Errorf("--timeout=%s: must be at least 1s", o.uninstall.Timeout)
	}
	o.uninstall.Namespace = cmp.Or(o.uninstall.Namespace, cmdline.OwnNamespace("interlock-system"))
	o.uninstall.LeaseNamespace = cmp.Or(o.uninstall.LeaseNamespace, o.uninstall.Namespace)
	if problems := validation.IsDNS1123Label(o.uninstall.Namespace); len(problems) > 0 {
		return fmt.Errorf("--namespace=%q: %s", o.uninstall.Namespace, problems[0])
	}
	if problems := validation.IsDNS1123Label(o.uninstall.LeaseNamespace); len(problems) > 0 {
		return fmt.Errorf("--%s=%q: %s", flagNamespace, o.uninstall.LeaseNamespace, problems[0])
	}
	return nil
}
