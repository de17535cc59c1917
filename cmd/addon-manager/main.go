// Command addon-manager runs on the hub and keeps the Degraded condition of
// every ManagedClusterAddOn true to what its add-on depends on.
package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

func main() {
	os.Exit(cmdline.Run(ctrl.SetupSignalHandler(), newCommand(), os.Stderr))
}
