// Command conversion measures the cost of Interlock's conversion for reads of ClusterManagementAddOns through
// v1beta1: 1,000 reads with it and 1,000 with OCM's conversion functions alone, in turns, on one API server and in
// one run. It exits 1 when the bound is missed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"open-cluster-management.io/interlock/test/testenv"
)

const (
	objects = 1000
	// maxRatio is the maximum ratio of the median times. The median excludes the few reads that other work on this
	// machine disturbs.
	maxRatio = 1.5
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	fmt.Printf("%d reads of ClusterManagementAddOns through v1beta1, each way\n", objects)
	hub, err := testenv.StartHub(ctx, testenv.Options{Name: "hub"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hub.Stop()) }()
	converter := startConverter()
	defer converter.server.Close()
	addOns, err := prepare(ctx, hub.Config, converter)
	if err != nil {
		return err
	}
	took, err := readInTurns(ctx, addOns, converter)
	if err != nil {
		return err
	}
	medians := map[side]time.Duration{}
	for _, side := range []side{ocm, interlock} {
		slices.Sort(took[side])
		medians[side] = took[side][objects/2]
		fmt.Printf("  %-10s median %s\n", side, medians[side].Round(time.Microsecond))
	}
	ratio := float64(medians[interlock]) / float64(medians[ocm])
	fmt.Printf("  ratio %.2f, bound %.2f\n", ratio, maxRatio)
	if ratio > maxRatio {
		return fmt.Errorf("reads through v1beta1 take %.2f times as long as with OCM's conversion: bound %.2f missed", ratio, maxRatio)
	}
	return nil
}

// readInTurns reads every object once with each conversion, one after the other, and returns the time of each read.
func readInTurns(ctx context.Context, addOns dynamic.ResourceInterface, converter *converter) (map[side][]time.Duration, error) {
	if err := awaitQuiet(ctx, addOns, converter); err != nil {
		return nil, err
	}
	took := map[side][]time.Duration{}
	sides := []side{ocm, interlock}
	for i := range objects {
		sides[0], sides[1] = sides[1], sides[0]
		for _, side := range sides {
			converter.inUse.Store(side)
			started := time.Now()
			conversions, err := read(ctx, addOns, converter, i)
			took[side] = append(took[side], time.Since(started))
			if err != nil {
				return nil, err
			}
			if conversions != 1 {
				return nil, fmt.Errorf("one read took %d conversions: what is measured is not the conversion", conversions)
			}
		}
	}
	return took, nil
}

// awaitQuiet waits until the API server uses the conversion and has filled its caches by it, so that only reads are
// converted.
func awaitQuiet(ctx context.Context, addOns dynamic.ResourceInterface, converter *converter) error {
	quiet := 0
	err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		conversions, err := read(ctx, addOns, converter, 0)
		if quiet++; conversions != 1 {
			quiet = 0
		}
		return quiet == 200, err
	})
	if err != nil {
		return fmt.Errorf("wait until only reads are converted: %w", err)
	}
	return nil
}
