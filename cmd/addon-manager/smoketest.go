package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"open-cluster-management.io/interlock/pkg/hub/setup/smoketest"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

func newSmokeTestCommand() *cobra.Command {
	var kubeconfig string
	options := smoketest.Options{}
	command := &cobra.Command{
		Use:   "smoke-test",
		Short: "Test that Interlock works on the hub",
		Long: `addon-manager smoke-test waits until a replica of addon-manager leads, and until
the webhook refuses an add-on that requires itself. It creates this add-on as a
dry run, and stores nothing. helm test runs it.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if options.Timeout <= 0 {
				return cmdline.UsageError(fmt.Errorf("--timeout=%s: must be positive", options.Timeout))
			}
			if err := cmdline.DNSLabel(flagNamespace, options.LeaseNamespace); err != nil {
				return cmdline.UsageError(err)
			}
			restConfig, err := cmdline.RestConfig(kubeconfig)
			if err != nil {
				return cmdline.UsageError(fmt.Errorf("--kubeconfig=%q: %w", kubeconfig, err))
			}
			options.LeaseNamespace = cmp.Or(options.LeaseNamespace, cmdline.OwnNamespace(defaultNamespace))
			options.Out = command.OutOrStdout()
			return smoketest.Run(command.Context(), restConfig, options)
		},
	}
	flags := command.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "Kubeconfig of the hub. Default: $KUBECONFIG, else the cluster that it runs in.")
	flags.StringVar(&options.LeaseNamespace, flagNamespace, "",
		"Namespace of the lease of addon-manager's leader. Default: the namespace of this process, interlock-system outside a cluster.")
	flags.DurationVar(&options.Timeout, "timeout", time.Minute, "How long to wait until all works.")
	return command
}
