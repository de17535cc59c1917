// Command kubectl-addon is the kubectl plugin of Interlock: kubectl addon …
package main

import (
	"os"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/text"
)

func main() {
	// Errors contain text of the hub.
	errOut := text.NewWriter(os.Stderr)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: errOut}
	os.Exit(cmdline.Run(ctrl.SetupSignalHandler(), cli.NewCommand(streams), errOut))
}
