package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// printEvery is how often progress is printed.
const printEvery = time.Minute

// progress counts the add-ons that are not available yet.
type progress struct {
	mutex     sync.Mutex
	available map[client.ObjectKey]bool // of the expected add-ons
	missing   int
	changed   chan struct{}
}

func newProgress() *progress { return &progress{changed: make(chan struct{}, 1)} }

// expect begins to count. No add-on is available at first.
func (p *progress) expect(addOns []*addonv1alpha1.ManagedClusterAddOn) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.available = make(map[client.ObjectKey]bool, len(addOns))
	for _, addOn := range addOns {
		p.available[client.ObjectKeyFromObject(addOn)] = false
	}
	p.missing = len(p.available)
}

// report stores whether an add-on is available.
func (p *progress) report(addOn *addonv1alpha1.ManagedClusterAddOn, available bool) {
	key := client.ObjectKeyFromObject(addOn)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if previous, expected := p.available[key]; !expected || previous == available {
		return
	}
	p.available[key] = available
	if available {
		p.missing--
	} else {
		p.missing++
	}
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// await waits until all expected add-ons are available.
func (p *progress) await(ctx context.Context) error {
	began, tick := time.Now(), time.NewTicker(printEvery)
	defer tick.Stop()
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		p.mutex.Lock()
		missing, total := p.missing, len(p.available)
		p.mutex.Unlock()
		if missing == 0 {
			return nil
		}
		select {
		case <-p.changed:
		case <-tick.C:
			fmt.Fprintf(os.Stderr, "  … %d of %d add-ons are available after %s\n", total-missing, total, time.Since(began).Round(time.Second))
		case <-ctx.Done():
			return fmt.Errorf("%d of %d add-ons are not available: %w", missing, total, ctx.Err())
		}
	}
}
