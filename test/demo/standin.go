package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"open-cluster-management.io/addon-framework/pkg/lease"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	renewEvery = 2 * time.Second
	// readEvery is how often OCM's agent reads the leases. Its own value is 30 s.
	readEvery = time.Second
	// graceUnit is the unit of the grace period in OCM's agent.
	graceUnit = 5 * time.Second
)

// newStandInCommand returns the command that stands in for an add-on's own agent. OCM sees only one thing of such an
// agent: the lease that it renews.
func newStandInCommand() *cobra.Command {
	var kubeconfig, name string
	command := &cobra.Command{
		Use:    "stand-in",
		Short:  "Stand in for an add-on's agent: renew its lease",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return standIn(command.Context(), kubeconfig, name)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "Kubeconfig of the managed cluster.")
	command.Flags().StringVar(&name, "name", "", "Name of the add-on.")
	return command
}

// standIn renews the add-on's lease until it is stopped. It leaves the lease in place, like an agent that dies.
//
// An updater renews when it starts and then every 60 seconds, which cannot be changed. That is too seldom for the
// short grace period of the demo. So standIn restarts the updater every renewEvery.
func standIn(ctx context.Context, kubeconfig, name string) error {
	config, err := cmdline.RestConfig(kubeconfig)
	if err != nil {
		return err
	}
	managed, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	updater := lease.NewLeaseUpdater(managed, name, ocm.AddOnNamespace)
	for ctx.Err() == nil {
		round, cancel := context.WithTimeout(ctx, renewEvery)
		updater.Start(round)
		cancel()
	}
	return nil
}

// startStandIn starts the stand-in of an add-on's agent on a cluster.
func (w *world) startStandIn(cluster, name string) error {
	standIn, err := w.run(fmt.Sprintf("%s-%s", cluster, name), w.self,
		"stand-in", "--kubeconfig", w.managed[cluster].Kubeconfig(), "--name", name)
	if err == nil {
		w.standIns[key(cluster, name)] = standIn
	}
	return err
}

// stopStandIn ends the stand-in. Its lease stays and grows old.
func (w *world) stopStandIn(cluster, name string) error {
	standIn := w.standIns[key(cluster, name)]
	delete(w.standIns, key(cluster, name))
	return standIn.end()
}
