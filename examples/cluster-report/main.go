// Command cluster-report is a small, complete add-on for Open Cluster Management
// that depends on another add-on: see README.md.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"open-cluster-management.io/interlock/examples/cluster-report/agent"
	"open-cluster-management.io/interlock/examples/cluster-report/hub"
)

func main() {
	ctrl.SetLogger(zap.New())
	command := &cobra.Command{
		Use: "cluster-report", Short: "Report on every managed cluster, with a token of managed-serviceaccount",
		SilenceUsage: true,
	}
	command.AddCommand(managerCommand(), agentCommand())
	if err := command.ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}

func managerCommand() *cobra.Command {
	var image string
	command := &cobra.Command{
		Use: "manager", Short: "Run on the hub", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := ctrl.GetConfig()
			if err != nil {
				return fmt.Errorf("find the hub: %w", err)
			}
			return hub.Run(command.Context(), config, image)
		},
	}
	command.Flags().StringVar(&image, "agent-image", "", "Image of the agent.")
	_ = command.MarkFlagRequired("agent-image") // it exists
	return command
}

func agentCommand() *cobra.Command {
	var namespace string
	command := &cobra.Command{
		Use: "agent", Short: "Run on a managed cluster", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			config, err := ctrl.GetConfig()
			if err != nil {
				return fmt.Errorf("find the managed cluster: %w", err)
			}
			return agent.Run(command.Context(), config, namespace)
		},
	}
	command.Flags().StringVar(&namespace, "addon-namespace", "open-cluster-management-agent-addon", "Namespace of the add-on's lease: the one that it is installed in.")
	return command
}
