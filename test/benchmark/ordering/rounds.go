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

// layers are the add-ons of a round. Each add-on requires all add-ons of the previous layer.
var layers = [][]string{{"a"}, {"b", "c"}, {"d", "e", "f"}, {"g", "h", "i"}, {"j"}}

// install registers the ten add-ons and installs them on all clusters, the last layer first. It returns the time
// until all were available.
func (f *fleet) install(ctx context.Context, ordered bool) (time.Duration, error) {
	var names, previous []string
	for _, layer := range layers {
		for _, name := range layer {
			if err := f.register(ctx, name, previous, ordered); err != nil {
				return 0, err
			}
		}
		names, previous = append(names, layer...), layer
	}
	slices.Reverse(names)
	var addOns []*addonv1alpha1.ManagedClusterAddOn
	for _, name := range names {
		for _, cluster := range f.clusters {
			// The first add-on requires nothing, so admission leaves it without a gate.
			addOns = append(addOns, installed(cluster, name, ordered && name != layers[0][0]))
		}
	}
	f.progress.expect(addOns)
	began := time.Now()
	if err := f.forEach(ctx, len(addOns), func(ctx context.Context, i int) error { return f.hub.Client.Create(ctx, addOns[i]) }); err != nil {
		return 0, err
	}
	err := f.progress.await(ctx)
	return time.Since(began), err
}

// gateWrites are the writes while gates were closed.
type gateWrites struct {
	// settled is the time until neither Interlock nor OCM's add-on manager wrote or tried to write.
	settled time.Duration
	// interlock and stock are their writes, and tries to write, since then.
	interlock, stock int
}

// closedGates installs add-ons that wait for an add-on that is never installed, and counts the writes while they
// wait.
func (f *fleet) closedGates(ctx context.Context, count int) (gateWrites, error) {
	const waiting = "waiting"
	for i := range 1 + (count-1)/len(f.clusters) {
		if err := f.register(ctx, fmt.Sprintf("%s-%d", waiting, i), []string{"missing"}, true); err != nil {
			return gateWrites{}, err
		}
	}
	began := time.Now()
	err := f.forEach(ctx, count, func(ctx context.Context, i int) error {
		return f.hub.Client.Create(ctx, installed(f.clusters[i%len(f.clusters)], fmt.Sprintf("%s-%d", waiting, i/len(f.clusters)), true))
	})
	if err != nil {
		return gateWrites{}, err
	}
	w, err := witness.Start(ctx, witness.Options{Hub: f.hub.Config, AuditLog: f.hub.AuditLog})
	if err != nil {
		return gateWrites{}, err
	}
	defer w.Stop()
	var last gateWrites
	for tries := 1; tries > 0; tries = last.interlock + last.stock {
		if time.Since(began) > patience {
			return gateWrites{}, fmt.Errorf("%d closed gates: still %d writes in %s after %s", count, last.interlock+last.stock, calm, patience)
		}
		if last, err = writes(ctx, w, calm); err != nil {
			return gateWrites{}, err
		}
	}
	settled := time.Since(began) - calm
	last, err = writes(ctx, w, countTime)
	last.settled = settled
	return last, err
}

// writes counts the writes, and tries to write, within a time. It leaves out addon-manager's admission policies,
// which are applied again every 5 minutes, with gates and without.
func writes(ctx context.Context, w *witness.Witness, within time.Duration) (gateWrites, error) {
	var sum gateWrites
	counts, err := w.Quiet(ctx, within)
	for _, row := range counts.Rows {
		switch {
		case strings.HasPrefix(row.Object.Resource, "mutatingadmissionpolic"):
		case row.Writer.Interlock(), strings.Contains(row.Writer.String(), managerUser):
			sum.interlock += row.Writes
		case strings.Contains(row.Writer.String(), "addon-manager"):
			sum.stock += row.Writes
		}
	}
	return sum, err
}

// roundTrip returns the median time of a status patch until a watch delivers it.
func (f *fleet) roundTrip(ctx context.Context) (time.Duration, error) {
	const trips = 20
	watcher, err := f.hub.Client.Watch(ctx, &addonv1alpha1.ManagedClusterAddOnList{}, client.InNamespace(f.clusters[0]))
	if err != nil {
		return 0, err
	}
	defer watcher.Stop()
	var took []time.Duration
	for i := range trips {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"simulated":"%d"}}}`, i)
		began := time.Now()
		addOn := installed(f.clusters[0], "probed", false)
		if err := f.hub.Client.Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch)); err != nil {
			return 0, err
		}
		for event := range watcher.ResultChan() {
			if seen, ok := event.Object.(client.Object); ok && seen.GetResourceVersion() == addOn.ResourceVersion {
				break
			}
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[trips/2], nil
}

// declaration returns the declaration of an add-on's dependencies.
func declaration(needs []string, ordered bool) string {
	var edges []string
	for _, need := range needs {
		edges = append(edges, "{name: "+need+"}")
	}
	text := "{dependencies: [" + strings.Join(edges, ", ") + "]"
	if ordered {
		text += ", ordering: " + string(interlockv1alpha1.OrderingInstall)
	}
	return text + "}"
}
