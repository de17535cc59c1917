package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/witness"
)

// layers are the add-ons of a round. Each requires all of the layer before.
var layers = [][]string{{"a"}, {"b", "c"}, {"d", "e", "f"}, {"g", "h", "i"}, {"j"}}

// install registers the ten add-ons and installs them on all clusters, the last layer first. It returns how long it took until
// all were available.
func (f *fleet) install(ctx context.Context, ordered bool) (time.Duration, error) {
	var names, before []string
	for _, layer := range layers {
		for _, name := range layer {
			if err := f.register(ctx, name, before, ordered); err != nil {
				return 0, err
			}
		}
		names, before = append(names, layer...), layer
	}
	slices.Reverse(names)
	var all []*addonv1alpha1.ManagedClusterAddOn
	for _, name := range names {
		for _, cluster := range f.clusters {
			// The first requires nothing, so admission leaves it without a gate.
			all = append(all, installed(cluster, name, ordered && name != layers[0][0]))
		}
	}
	f.progress.expect(all)
	began := time.Now()
	if err := f.each(ctx, len(all), func(ctx context.Context, i int) error { return f.hub.Client.Create(ctx, all[i]) }); err != nil {
		return 0, err
	}
	err := f.progress.await(ctx)
	return time.Since(began), err
}

// waited is what happened while gates were closed.
type waited struct {
	// settled is how long it took until neither Interlock nor OCM's add-on manager wrote, or tried to.
	settled time.Duration
	// interlock and stock are what each of them has written, or tried to, since then.
	interlock, stock int
}

// closedGates installs add-ons that wait for one that is never installed, and counts the writes while they do.
func (f *fleet) closedGates(ctx context.Context, count int) (waited, error) {
	const waiting = "waiting"
	for i := range 1 + (count-1)/len(f.clusters) {
		if err := f.register(ctx, fmt.Sprintf("%s-%d", waiting, i), []string{"missing"}, true); err != nil {
			return waited{}, err
		}
	}
	began := time.Now()
	err := f.each(ctx, count, func(ctx context.Context, i int) error {
		return f.hub.Client.Create(ctx, installed(f.clusters[i%len(f.clusters)], fmt.Sprintf("%s-%d", waiting, i/len(f.clusters)), true))
	})
	if err != nil {
		return waited{}, err
	}
	w, err := witness.Start(ctx, witness.Options{Hub: f.hub.Config, AuditLog: f.hub.AuditLog})
	if err != nil {
		return waited{}, err
	}
	defer w.Stop()
	var last waited
	for tries := 1; tries > 0; tries = last.interlock + last.stock {
		if time.Since(began) > patience {
			return waited{}, fmt.Errorf("%d closed gates: still %d writes in %s after %s", count, last.interlock+last.stock, calm, patience)
		}
		if last, err = writes(ctx, w, calm); err != nil {
			return waited{}, err
		}
	}
	settled := time.Since(began) - calm
	last, err = writes(ctx, w, counted)
	last.settled = settled
	return last, err
}

// writes counts the writes, and tries, within a time. addon-manager applies its admission policies again every 5 minutes, with
// gates and without: that is left out.
func writes(ctx context.Context, w *witness.Witness, within time.Duration) (found waited, err error) {
	counts, err := w.Quiet(ctx, within)
	for _, row := range counts.Rows {
		switch {
		case strings.HasPrefix(row.Object.Resource, "mutatingadmissionpolic"):
		case row.Writer.Interlock(), strings.Contains(row.Writer.String(), managerUser):
			found.interlock += row.Writes
		case strings.Contains(row.Writer.String(), "addon-manager"):
			found.stock += row.Writes
		}
	}
	return found, err
}

// roundTrip is the median time of a status patch until a watch delivers it.
func (f *fleet) roundTrip(ctx context.Context) (time.Duration, error) {
	const trips = 20
	watching, err := f.hub.Client.Watch(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, client.InNamespace(f.clusters[0]))
	if err != nil {
		return 0, err
	}
	defer watching.Stop()
	var took []time.Duration
	for i := range trips {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"simulated":"%d"}}}`, i)
		began := time.Now()
		touched := installed(f.clusters[0], "probed", false)
		if err := f.hub.Client.Patch(ctx, touched, client.RawPatch(types.MergePatchType, patch)); err != nil {
			return 0, err
		}
		for event := range watching.ResultChan() {
			if seen, is := event.Object.(client.Object); is && seen.GetResourceVersion() == touched.ResourceVersion {
				break
			}
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[trips/2], nil
}

// declaration is what an add-on requires.
func declaration(needs []string, ordered bool) string {
	var edges []string
	for _, need := range needs {
		edges = append(edges, "{name: "+need+"}")
	}
	declared := "{dependencies: [" + strings.Join(edges, ", ") + "]"
	if ordered {
		declared += ", ordering: " + string(interlockv1alpha1.OrderingInstall)
	}
	return declared + "}"
}
