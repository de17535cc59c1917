// Command addon-agent runs on each managed cluster and keeps the Available
// condition of its ManagedClusterAddOns true to the add-ons' leases and to
// what their Degraded condition says of their dependencies.
package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/cmdline"
)

func main() {
	os.Exit(cmdline.Run(ctrl.SetupSignalHandler(), newCommand(), os.Stderr))
}
