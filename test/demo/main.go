// Command demo shows Interlock at work on this machine: a hub and three managed clusters, all real API servers, with
// addon-manager and addon-agents as separate processes. It plays scenes with add-ons that depend on others, prints
// the view of a user at each step, and fails if a step does not lead to the expected state.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

type options struct {
	bin     string
	keep    bool
	grace   time.Duration
	samples int
}

func main() {
	endWithParent()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := cmdline.Run(ctx, newCommand(), os.Stderr)
	stop()
	os.Exit(code)
}

func newCommand() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "demo",
		Short: "Play what happens to add-ons that depend on others",
		Long: `The demo starts a hub and three managed clusters of Open Cluster Management: a
kube-apiserver and an etcd each, with OCM's own components and agents, then
addon-manager and an addon-agent per cluster. It installs real add-ons with
their real dependencies, and plays what happens to them: a prerequisite is
missing, is installed, dies, comes back, is deleted; OCM's agent insists that an
add-on is available; a chain; a cycle. At each step it prints what a user sees
and how long each change took.

Simulated are only the add-ons' own agents. A stand-in process for each renews
its lease on the managed cluster, with the lease updater of OCM's addon-framework.

Everything listens on the loopback interface, is kept in one temporary folder,
and is gone at the end, unless it is asked to stay.`,
		Example: `  # All of it, building what is missing first
  make demo

  # Stay there afterwards, to look around with kubectl; Ctrl-C ends it
  KEEP=1 make demo

  # Without make, with binaries that are there already
  go run ./test/demo --bin bin`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return run(command.Context(), *o, newPrinter(os.Stdout))
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	flags := command.Flags()
	flags.StringVar(&o.bin, "bin", "bin", "Folder with addon-manager, addon-agent and kubectl-addon.")
	flags.BoolVar(&o.keep, "keep", os.Getenv("KEEP") == "1", "Keep everything running after the last step, until Ctrl-C. Default: whether KEEP=1 is set.")
	flags.DurationVar(&o.grace, "lease-grace-period", 10*time.Second, "How old an add-on's lease may get, a multiple of 5s. OCM's own value is 5m0s; the demo does not wait that long.")
	flags.IntVar(&o.samples, "samples", 9, "How often to measure the reaction times, of which the median is shown.")
	command.AddCommand(newStandInCommand())
	return command
}

func (o *options) validate() error {
	if o.grace%graceUnit != 0 {
		return fmt.Errorf("--lease-grace-period=%s: must be a multiple of %s", o.grace, graceUnit)
	}
	if o.grace < 2*renewEvery {
		return fmt.Errorf("--lease-grace-period=%s: must be at least %s, as leases are renewed every %s", o.grace, 2*renewEvery, renewEvery)
	}
	if o.samples < 1 {
		return fmt.Errorf("--samples=%d: must be at least 1", o.samples)
	}
	for _, name := range []string{"addon-manager", "addon-agent", "kubectl-addon"} {
		if _, err := os.Stat(filepath.Join(o.bin, name)); err != nil {
			return fmt.Errorf("no %s to run: %w (run `make build`, or name another folder with --bin)", name, err)
		}
	}
	return nil
}

// run plays the demo and takes everything down again.
func run(ctx context.Context, o options, p *printer) (err error) {
	p.title("Interlock: add-ons that depend on other add-ons, on real API servers")
	w, err := newWorld(ctx, o, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop(err != nil && !errors.Is(err, errInterrupted))) }()
	if err := w.start(); err != nil {
		return err
	}
	err = present(w)
	if o.keep && w.ctx.Err() == nil {
		w.letGo()
		p.kept(w)
		<-w.ctx.Done()
		if !w.interrupted() {
			return context.Cause(w.ctx)
		}
	}
	return err
}

// present plays the steps, measures, and shows the results.
func present(w *world) error {
	w.printer.declarations(realAddOns)
	results, err := play(w, steps)
	if err == nil {
		var figures []figure
		figures, err = measure(w, w.samples)
		w.printer.figures(figures, w.samples)
	}
	if err = w.explain(err); errors.Is(err, errInterrupted) {
		return err
	}
	w.printer.summary(results, time.Since(w.began))
	if err != nil {
		w.printer.failure(err, w.logs)
		return errFailed
	}
	return nil
}
