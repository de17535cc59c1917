// Command ordering measures on a hub of real OCM what it costs that add-ons are installed in order: the time until ten
// add-ons are available on each of many managed clusters, with and without ordering: Install, in turns and in one run. Then
// it counts what is written while all gates are closed. It exits 1 when a bound is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// maxRatio is how many times as long the installation in order may take, beyond a round trip for each layer.
	maxRatio = 1.25
	// calm is how long nothing may be written before the writes are counted, and counted how long they are then.
	calm, counted = 10 * time.Second, 30 * time.Second
)

type options struct {
	bin                      string
	clusters, rounds, closed int
}

func main() {
	o := options{}
	flag.StringVar(&o.bin, "bin", "../../bin", "Folder with addon-manager.")
	flag.IntVar(&o.clusters, "clusters", 100, "Managed clusters, with ten add-ons each.")
	flag.IntVar(&o.rounds, "rounds", 2, "How often both are measured.")
	flag.IntVar(&o.closed, "closed", 500, "Closed gates while writes are counted.")
	flag.Parse()
	ctrl.SetLogger(logr.Discard()) // what it finds is printed
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	fmt.Printf("10 add-ons in %d layers on %d managed clusters, installed by OCM\n", len(layers), o.clusters)
	f, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	trip, err := f.roundTrip(ctx)
	if err != nil {
		return err
	}
	took := map[bool][]time.Duration{}
	for round := range o.rounds {
		for _, ordered := range []bool{round%2 == 0, round%2 != 0} { // in turns
			one, err := f.install(ctx, fmt.Sprintf("round-%d-%t", round, ordered), ordered)
			if err != nil {
				return err
			}
			fmt.Printf("  %-10s %s\n", map[bool]string{true: "in order", false: "at once"}[ordered], one.Round(time.Millisecond))
			took[ordered] = append(took[ordered], one)
		}
	}
	slices.Sort(took[true])
	slices.Sort(took[false])
	median := o.rounds / 2
	ratio := (took[true][median] - time.Duration(len(layers))*trip).Seconds() / took[false][median].Seconds()
	fmt.Printf("  ratio %.2f, without %d round trips of %s, bound %.2f\n", ratio, len(layers), trip.Round(time.Microsecond), maxRatio)
	closed, err := f.closedGates(ctx, o.closed)
	if err != nil {
		return err
	}
	fmt.Printf("  %d closed gates: OCM has prepared them after %s\n", o.closed, closed.settled.Round(time.Second))
	fmt.Printf("  then, in %s: %d writes of Interlock, %d tries of OCM's add-on manager, bound 0\n", counted, closed.interlock, closed.stock)
	if ratio > maxRatio || closed.interlock+closed.stock > 0 {
		return errors.New("a bound is missed")
	}
	return nil
}
