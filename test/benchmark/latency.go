package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	stockv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	measured = "measured"
	// The two reactions may take this many times as long as one raw status
	// patch with its delivery on a watch.
	maxRatio = 3
)

// watcher follows the add-ons of one cluster as a user's watch sees them.
type watcher struct {
	events watch.Interface
	seen   map[string][]metav1.Condition
	at     map[string]time.Time
}

type timings struct {
	raw, degraded, available []time.Duration
}

// latency flips a dependency and measures both reactions, each next to a raw
// status patch on an add-on that nobody depends on.
func latency(ctx context.Context, o options) (err error) {
	fmt.Printf("Reaction to a dependency that flips, %d times\n", o.flips)
	b, err := newBench(ctx, o, measured)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.stop(ctx)) }()

	w, err := b.prepareLatency(ctx)
	if err != nil {
		return err
	}
	defer w.events.Stop()
	var t timings
	for i := range o.flips {
		if err := b.flip(ctx, w, i, &t); err != nil {
			return err
		}
	}
	raw := median(t.raw)
	fmt.Printf("  one status patch and its delivery on a watch: median %s\n", raw.Round(10*time.Microsecond))
	fmt.Printf("  dependency flipped → Degraded delivered:      median %s\n", median(t.degraded).Round(10*time.Microsecond))
	fmt.Printf("  Degraded delivered → Available delivered:     median %s\n", median(t.available).Round(10*time.Microsecond))
	return errors.Join(
		check("flip → Degraded, over a raw patch", ratio(median(t.degraded), raw), maxRatio, "×"),
		check("Degraded → Available, over a raw patch", ratio(median(t.available), raw), maxRatio, "×"))
}

func (b *bench) prepareLatency(ctx context.Context) (*watcher, error) {
	err := errors.Join(
		b.register(ctx, "dependency"), b.register(ctx, "bystander"),
		b.register(ctx, "dependent", addonv1alpha1.AddonDependency{Name: "dependency"}),
		b.install(ctx, measured, "dependency", stockv1alpha1.HealthCheckModeCustomized),
		b.install(ctx, measured, "bystander", stockv1alpha1.HealthCheckModeCustomized),
		b.install(ctx, measured, "dependent", stockv1alpha1.HealthCheckModeLease),
		b.renew(ctx, measured, "dependent"),
		b.report(ctx, types.NamespacedName{Namespace: measured, Name: "dependency"}, metav1.ConditionTrue),
	)
	if err != nil {
		return nil, err
	}
	events, err := b.hub.Watch(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, client.InNamespace(measured))
	if err != nil {
		return nil, err
	}
	w := &watcher{events: events, seen: map[string][]metav1.Condition{}, at: map[string]time.Time{}}
	_, err = w.await(ctx, "dependent", "Available", metav1.ConditionTrue)
	return w, err
}

// flip measures one raw patch and then one flip, alternately to down and up.
func (b *bench) flip(ctx context.Context, w *watcher, i int, t *timings) error {
	to, degraded := metav1.ConditionFalse, metav1.ConditionTrue
	if i%2 == 1 {
		to, degraded = metav1.ConditionTrue, metav1.ConditionFalse
	}
	started := time.Now()
	if err := b.report(ctx, types.NamespacedName{Namespace: measured, Name: "bystander"}, to); err != nil {
		return err
	}
	delivered, err := w.await(ctx, "bystander", "Available", to)
	if err != nil {
		return err
	}
	t.raw = append(t.raw, delivered.Sub(started))

	started = time.Now()
	if err := b.report(ctx, types.NamespacedName{Namespace: measured, Name: "dependency"}, to); err != nil {
		return err
	}
	decided, err := w.await(ctx, "dependent", "Degraded", degraded)
	if err != nil {
		return err
	}
	followed, err := w.await(ctx, "dependent", "Available", to)
	if err != nil {
		return err
	}
	t.degraded = append(t.degraded, decided.Sub(started))
	t.available = append(t.available, followed.Sub(decided))
	return nil
}

func median(durations []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(durations))
	return sorted[len(sorted)/2]
}

func ratio(a, b time.Duration) float64 {
	return float64(a) / float64(b)
}
