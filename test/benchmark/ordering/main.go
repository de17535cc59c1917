// Command ordering measures the cost of ordered installation on hubs of real OCM: the time until ten add-ons are
// available on each of many managed clusters, with and without ordering: Install, in turns and in one run. Then it
// counts the writes while all gates are closed. It exits 1 when a bound is missed.
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
	// maxRatio is the maximum ratio of the time in order to the time at once, without a round trip for each layer.
	maxRatio = 1.15
	// calm is how long nothing may be written before the writes are counted, and countTime is how long they are
	// counted.
	calm, countTime = 10 * time.Second, 30 * time.Second
)

type options struct {
	bin                     string
	clusters, rounds, gates int
	// labels is the number of add-ons that are installed by label. It is 0 for a measurement of the order.
	labels int
}

func main() {
	o := options{}
	flag.StringVar(&o.bin, "bin", "../../bin", "Folder with addon-manager.")
	flag.IntVar(&o.clusters, "clusters", 100, "Managed clusters, with ten add-ons each.")
	flag.IntVar(&o.rounds, "rounds", 2, "How often both are measured.")
	flag.IntVar(&o.gates, "closed", 500, "Closed gates while writes are counted.")
	flag.IntVar(&o.labels, "labels", 0, "Add-ons to install by label on 20 managed clusters, instead of all else.")
	flag.Parse()
	ctrl.SetLogger(logr.Discard()) // the results are printed
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := choose(o)(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

// choose returns the measurement of the options.
func choose(o options) func(context.Context, options) error {
	if o.labels > 0 {
		return compareLabels
	}
	return run
}

func run(ctx context.Context, o options) error {
	fmt.Printf("10 add-ons in %d layers on %d managed clusters, installed by OCM\n", len(layers), o.clusters)
	took := map[bool][]time.Duration{}
	var trip time.Duration
	var closed gateWrites
	for turn := range 2 * o.rounds {
		ordered := turn%4 == 0 || turn%4 == 3 // in turns
		err := onHub(ctx, o, func(f *fleet) (err error) {
			if trip, err = f.roundTrip(ctx); err != nil {
				return err
			}
			duration, err := f.install(ctx, ordered)
			if err != nil {
				return err
			}
			fmt.Printf("  %-10s %s\n", map[bool]string{true: "in order", false: "at once"}[ordered], duration.Round(time.Millisecond))
			took[ordered] = append(took[ordered], duration)
			if last := turn == 2*o.rounds-1; last {
				closed, err = f.closedGates(ctx, o.gates)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	slices.Sort(took[true])
	slices.Sort(took[false])
	median := o.rounds / 2
	ratio := (took[true][median] - time.Duration(len(layers))*trip).Seconds() / took[false][median].Seconds()
	fmt.Printf("  ratio %.2f, without %d round trips of %s, bound %.2f\n", ratio, len(layers), trip.Round(time.Microsecond), maxRatio)
	fmt.Printf("  %d closed gates: OCM has prepared them after %s\n", o.gates, closed.settled.Round(time.Second))
	fmt.Printf("  then, in %s: %d writes of Interlock, %d tries of OCM's add-on manager, bound 0\n", countTime, closed.interlock, closed.stock)
	if ratio > maxRatio || closed.interlock+closed.stock > 0 {
		return errors.New("a bound is missed")
	}
	return nil
}

// onHub measures on a new hub, because the remains of a measurement would slow the next one.
func onHub(ctx context.Context, o options, measure func(*fleet) error) (err error) {
	f, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	return measure(f)
}
