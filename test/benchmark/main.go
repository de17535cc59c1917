// Command benchmark plays a fleet of managed clusters against Interlock. It measures Interlock against the API server
// that it writes to, in one run and as ratios, so that the machine's speed cancels out. It exits 1 when a bound is
// missed.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

// Paths are relative to the benchmark's folder, where `go run -C` starts it.
const (
	builtPrograms = "../../bin"
	figures       = "../../bin/benchmark"
)

type options struct {
	bin         string
	clusters    int
	addOns      int
	agents      bool
	scenarios   []string
	repetitions int
	seed        uint64
	out         string
	name        string
	profiles    bool
}

func main() {
	// Libraries log nothing: the screen is for the user.
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cmdline.Run(ctx, newCommand(), os.Stderr)
	stop()
	os.Exit(code)
}

func newCommand() *cobra.Command {
	o := &options{}
	command := &cobra.Command{
		Use:   "benchmark",
		Short: "Play a fleet against Interlock and measure it",
		Long: `The benchmark starts a real API server as a hub, with the objects of many managed
clusters and add-ons. It starts the real addon-manager, and runs the code of the
real addon-agent once per cluster in this process. It changes the fleet, and
compares the time of Interlock with that of a trivial client. The client makes the
same number of writes on the same API server, in turns.

` + listScenarios() + `
The figures go to a folder as JSON, Markdown and SVG. The exit code is 1 when a
bound is missed.`,
		Example: `  # Everything, on a fleet of this size
  go run -C test/benchmark . --clusters 1000 --addons 10

  # Two scenarios, quickly
  go run -C test/benchmark . --clusters 50 --scenarios 1,7 --repetitions 1

  # The document, from the figures of earlier runs
  go run -C test/benchmark . document`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return cmdline.UsageError(err)
			}
			return run(command.Context(), *o)
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	flags := command.Flags()
	flags.StringVar(&o.bin, "bin", builtPrograms, "Folder with addon-manager, addon-agent and kubectl-addon.")
	flags.IntVar(&o.clusters, "clusters", 1000, "Managed clusters of the fleet.")
	flags.IntVar(&o.addOns, "addons", simulator.MinAddOns, "Add-ons on each of them.")
	flags.BoolVar(&o.agents, "agents", true, "Play also the scenarios that need an agent on every cluster.")
	flags.StringSliceVar(&o.scenarios, "scenarios", nil, "Numbers of the scenarios to play. Default: all.")
	flags.IntVar(&o.repetitions, "repetitions", 3, "How often each measurement is repeated.")
	flags.Uint64Var(&o.seed, "seed", 1, "Seed of everything that is random.")
	flags.StringVar(&o.out, "out", figures, "Folder for the figures.")
	flags.StringVar(&o.name, "name", "standard", "Name of the run, and of its files in the folder.")
	flags.BoolVar(&o.profiles, "profiles", false, "Write processor and heap profiles of addon-manager to the folder as well.")
	command.AddCommand(newDocumentCommand(), newCacheCommand(), newListCommand(), newPagesCommand(), newMeasureCommand())
	return command
}

func (o *options) validate() error {
	switch {
	case o.clusters < 10:
		return fmt.Errorf("--clusters=%d: must be at least 10", o.clusters)
	case o.addOns < simulator.MinAddOns:
		return fmt.Errorf("--addons=%d: must be at least %d, because so many have edges", o.addOns, simulator.MinAddOns)
	case o.repetitions < 1:
		return fmt.Errorf("--repetitions=%d: must be at least 1", o.repetitions)
	case o.name == "" || strings.ContainsAny(o.name, `/\`):
		return fmt.Errorf("--name=%q: must be a file's name", o.name)
	}
	for _, id := range o.scenarios {
		if !slices.ContainsFunc(scenarios, func(s scenario) bool { return s.id == id }) {
			return fmt.Errorf("--scenarios: there is no %q; --help lists them", id)
		}
	}
	for _, name := range []string{"addon-manager", "addon-agent", "kubectl-addon"} {
		if _, err := os.Stat(filepath.Join(o.bin, name)); err != nil {
			return fmt.Errorf("no %s to run: %w (run `make build`, or name another folder with --bin)", name, err)
		}
	}
	return nil
}

func (o *options) selected(s scenario) bool {
	if s.stage == withAgents && !o.agents {
		return false
	}
	return len(o.scenarios) == 0 || slices.Contains(o.scenarios, s.id)
}
