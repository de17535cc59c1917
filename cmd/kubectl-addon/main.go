// Command kubectl-addon is the kubectl plugin of Interlock: kubectl addon …
package main

import (
	"os"
	"runtime/debug"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	ctrl "sigs.k8s.io/controller-runtime"

	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// gcPercent is the percentage of garbage over live memory that starts a collection. Go's default is 100.
// With a large fleet, that is hundreds of MiB on a user's machine.
const gcPercent = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	// Errors contain text of the hub.
	errOut := terminal.NewMessages(os.Stderr)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: errOut}
	exitCode := cmdline.Run(ctrl.SetupSignalHandler(), cli.NewCommand(streams), errOut)
	errOut.Clear()
	os.Exit(exitCode)
}
