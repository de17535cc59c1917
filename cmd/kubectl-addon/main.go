// Command kubectl-addon is the kubectl plugin of Interlock: kubectl addon …
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"

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
	ctx := ctrl.SetupSignalHandler()
	context.AfterFunc(ctx, func() { stop(errOut) })
	exitCode := cmdline.Run(ctx, cli.NewCommand(streams), errOut)
	errOut.Clear()
	os.Exit(exitCode)
}

// grace is the time for a verb to end by itself after a signal.
const grace = 2 * time.Second

// stop ends the process after a signal. A verb that computes, or waits for its input, does not see the end of its context. It can end
// at any time, because it writes files and folders as a whole.
func stop(errOut *terminal.Messages) {
	time.Sleep(grace)
	errOut.Clear()
	fmt.Fprintln(errOut, "kubectl addon: stopped")
	os.Exit(cmdline.ExitError)
}
