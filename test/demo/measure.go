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
	// bystander is an add-on without dependencies and dependents.
	bystander = "submariner"
	// bound is the maximum of a reaction time, as a multiple of the time of one raw write.
	bound = 3.0
)

// figure is a measured reaction. Each sample has a raw write beside it.
type figure struct {
	name    string
	samples []sample
}

// sample is the time of a reaction, and of a raw write that began when the dependency changed.
// OCM and Interlock handle that change, so both compete with the same work.
type sample struct {
	reaction, raw time.Duration
}

// medians returns the medians of the reaction and of the raw write.
func (f figure) medians() (reaction, raw time.Duration) {
	var reactions, raws []time.Duration
	for _, s := range f.samples {
		reactions, raws = append(reactions, s.reaction), append(raws, s.raw)
	}
	slices.Sort(reactions)
	slices.Sort(raws)
	return reactions[len(reactions)/2], raws[len(raws)/2]
}

// measure repeats an outage of a dependency and its end.
func measure(w *world, samples int) ([]figure, error) {
	ctx, cancel := context.WithTimeout(w.ctx, time.Duration(samples)*patience)
	defer cancel()
	if err := w.enable(ctx, cluster1, bystander); err != nil {
		return nil, err
	}
	figures := []figure{
		{name: "dependency gone → Degraded=True of its dependent"},
		{name: "Degraded=True → Available=False"},
		{name: "dependency available → Degraded=False of its dependent"},
		{name: "Degraded=False → Available=True"},
	}
	for range samples {
		took, err := w.sample(ctx)
		if err != nil {
			return nil, fmt.Errorf("measure the reaction times: %w", err)
		}
		for j := range figures {
			figures[j].samples = append(figures[j].samples, took[j])
		}
	}
	return figures, w.disable(ctx, cluster1, bystander)
}

// sample takes one sample of each figure. Reactions are measured from one delivery
// by the demo's watch to another, raw writes from the request to the delivery.
func (w *world) sample(ctx context.Context) ([]sample, error) {
	down, err := w.reaction(ctx, w.disable, change{addOn: key(cluster1, serviceAccount), status: "deleted"}, conditionTrue, conditionFalse)
	if err != nil {
		return nil, err
	}
	up, err := w.reaction(ctx, w.enable, change{addOn: key(cluster1, serviceAccount), condition: "Available", status: conditionTrue},
		conditionFalse, conditionTrue)
	return append(down, up...), err
}

// reaction acts on managed-serviceaccount, and measures how cluster-gateway follows the flip.
func (w *world) reaction(ctx context.Context, act func(context.Context, string, string) error, flip change,
	degraded, outcome string,
) ([]sample, error) {
	began := time.Now()
	if err := act(ctx, cluster1, serviceAccount); err != nil {
		return nil, err
	}
	first, err := w.observer.await(ctx, began, func(c change) bool {
		return c.addOn == flip.addOn && c.condition == flip.condition && c.status == flip.status
	})
	if err != nil {
		return nil, err
	}
	raw, err := w.rawWrite(ctx)
	if err != nil {
		return nil, err
	}
	decision, err := w.observer.await(ctx, first.time, becomes(gateway, "Degraded", degraded))
	if err != nil {
		return nil, err
	}
	effect, err := w.observer.await(ctx, decision.time, becomes(gateway, "Available", outcome))
	if err != nil {
		return nil, err
	}
	expectations := []expectation{blocked(cluster1, gateway), blocked(cluster1, kueue)}
	if outcome == conditionTrue {
		expectations = []expectation{available(cluster1, gateway), available(cluster1, kueue)}
	}
	return []sample{{decision.time.Sub(first.time), raw}, {effect.time.Sub(decision.time), raw}}, w.observer.settle(ctx, expectations, calm/4)
}

// rawWrite writes one condition like addon-manager, and nothing else. It returns the time until the demo's watch
// delivered it.
func (w *world) rawWrite(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	err := w.hub.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": addonv1alpha1.GroupVersion.String(),
		"kind":       "ManagedClusterAddOn",
		"metadata":   map[string]any{"namespace": cluster1, "name": bystander},
		"status": map[string]any{"conditions": []any{map[string]any{
			"type": "Degraded", "status": conditionFalse, "reason": fmt.Sprintf("Sample%d", began.UnixNano()), "message": "A raw write to compare with.",
			"lastTransitionTime": metav1.NewTime(began).UTC().Format(time.RFC3339),
		}}},
	}}), client.FieldOwner("interlock-demo"))
	if err != nil {
		return 0, err
	}
	written, err := w.observer.await(ctx, began, func(c change) bool {
		return c.addOn == key(cluster1, bystander) && c.condition == "Degraded"
	})
	return written.time.Sub(began), err
}
