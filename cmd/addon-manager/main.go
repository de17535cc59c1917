// Command addon-manager runs on the hub. It evaluates the dependencies of every
// ManagedClusterAddOn and sets its condition Degraded.
package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

func main() {
	os.Exit(cmdline.Run(ctrl.SetupSignalHandler(), newCommand(), os.Stderr))
}
