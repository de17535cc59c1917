// Command benchmark measures addon-manager and addon-agent against the API
// server they write to, in one run and as ratios: a machine's speed cancels
// out. It exits 1 when a bound is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type options struct {
	bin      string
	flips    int
	addOns   int
	duration time.Duration
}

func main() {
	o := options{}
	flag.StringVar(&o.bin, "bin", "bin", "folder with addon-manager and addon-agent")
	flag.IntVar(&o.flips, "flips", 100, "how often the dependency flips in the latency scenario")
	flag.IntVar(&o.addOns, "addons", 1000, "ManagedClusterAddOns in the steady-state scenario")
	flag.DurationVar(&o.duration, "duration", 2*time.Minute, "how long the steady state is watched")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) error {
	for _, scenario := range []func(context.Context, options) error{latency, steadyState} {
		if err := scenario(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// check reports a bound as missed, or prints that it holds.
func check(what string, figure, bound float64, unit string) error {
	verdict := "holds"
	var err error
	if figure > bound {
		verdict = "MISSED"
		err = errors.New(what + ": bound missed")
	}
	fmt.Printf("  %-52s %8.2f%s   bound %.2f%s   %s\n", what, figure, unit, bound, unit, verdict)
	return err
}
