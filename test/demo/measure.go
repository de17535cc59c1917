package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	// bystander is an add-on that nobody depends on and that depends on nobody.
	bystander = "submariner"
	// bound is how many times as long as one raw write a reaction may take.
	bound = 3.0
)

// figure is a measured time; limited says whether the bound holds for it.
type figure struct {
	what    string
	samples []time.Duration
	limited bool
}

func (f figure) median() time.Duration {
	sorted := slices.Sorted(slices.Values(f.samples))
	return sorted[len(sorted)/2]
}

// measure takes each sample of a reaction next to one of a raw write, so that
// a machine that is slow at the moment is slow for both.
func measure(w *world, samples int) ([]figure, error) {
	ctx, cancel := context.WithTimeout(w.ctx, time.Duration(samples)*patience)
	defer cancel()
	if err := w.enable(ctx, cluster1, bystander); err != nil {
		return nil, err
	}
	figures := []figure{
		{what: "one raw status patch, until a watch delivers it"},
		{what: "dependency gone → Degraded=True of its dependent", limited: true},
		{what: "Degraded=True → Available=False", limited: true},
		{what: "dependency available → Degraded=False of its dependent", limited: true},
		{what: "Degraded=False → Available=True", limited: true},
	}
	for i := range samples {
		took, err := w.sample(ctx, i)
		if err != nil {
			return nil, fmt.Errorf("measure the reaction times: %w", err)
		}
		for j := range figures {
			figures[j].samples = append(figures[j].samples, took[j])
		}
	}
	return figures, w.disable(ctx, cluster1, bystander)
}

// sample takes one sample of each figure. Whatever reacts is measured from one
// delivery by the demo's watch to another, the raw write from its request on.
func (w *world) sample(ctx context.Context, number int) ([]time.Duration, error) {
	began := time.Now()
	if err := w.rawWrite(ctx, number); err != nil {
		return nil, err
	}
	written, err := w.observer.await(ctx, began, func(c change) bool {
		return c.addOn == key(cluster1, bystander) && c.condition == "Degraded"
	})
	if err != nil {
		return nil, err
	}
	down, err := w.reaction(ctx, w.disable, change{addOn: key(cluster1, serviceAccount), status: "deleted"}, conditionTrue, conditionFalse)
	if err != nil {
		return nil, err
	}
	up, err := w.reaction(ctx, w.enable, change{addOn: key(cluster1, serviceAccount), condition: "Available", status: conditionTrue},
		conditionFalse, conditionTrue)
	return append(append([]time.Duration{written.at.Sub(began)}, down...), up...), err
}

// reaction does something to managed-serviceaccount, and measures what comes
// of the flip for cluster-gateway.
func (w *world) reaction(ctx context.Context, do func(context.Context, string, string) error, flip change,
	degraded, outcome string,
) ([]time.Duration, error) {
	began := time.Now()
	if err := do(ctx, cluster1, serviceAccount); err != nil {
		return nil, err
	}
	flipped, err := w.observer.await(ctx, began, func(c change) bool {
		return c.addOn == flip.addOn && c.condition == flip.condition && c.status == flip.status
	})
	if err != nil {
		return nil, err
	}
	decided, err := w.observer.await(ctx, flipped.at, becomes(gateway, "Degraded", degraded))
	if err != nil {
		return nil, err
	}
	followed, err := w.observer.await(ctx, decided.at, becomes(gateway, "Available", outcome))
	if err != nil {
		return nil, err
	}
	calmed := []expectation{blocked(cluster1, gateway), blocked(cluster1, kueue)}
	if outcome == conditionTrue {
		calmed = []expectation{available(cluster1, gateway), available(cluster1, kueue)}
	}
	return []time.Duration{decided.at.Sub(flipped.at), followed.at.Sub(decided.at)}, w.observer.settle(ctx, calmed, calm/4)
}

// rawWrite writes one condition as addon-manager does, and nothing else.
func (w *world) rawWrite(ctx context.Context, number int) error {
	return w.hub.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": addonv1alpha1.GroupVersion.String(),
		"kind":       "ManagedClusterAddOn",
		"metadata":   map[string]any{"namespace": cluster1, "name": bystander},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Degraded", "status": conditionFalse, "reason": fmt.Sprintf("Sample%d", number), "message": "A raw write to compare with.",
			"lastTransitionTime": metav1.Now().UTC().Format(time.RFC3339),
		}}},
	}}), client.FieldOwner("interlock-demo"))
}
