// Command addon-agent runs on each managed cluster. It sets the condition Available of
// the cluster's ManagedClusterAddOns, from the add-ons' leases and from Degraded.
package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

func main() {
	os.Exit(cmdline.Run(ctrl.SetupSignalHandler(), newCommand(), os.Stderr))
}
